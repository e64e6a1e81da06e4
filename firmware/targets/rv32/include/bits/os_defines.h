// libstdc++'s headers ask the operating system for its particulars. There is none.
#pragma once
