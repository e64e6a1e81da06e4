// libstdc++'s headers include this for details of the operating system. There is none.
#pragma once
