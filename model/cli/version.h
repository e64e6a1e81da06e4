#pragma once

namespace rnic::cli {

// Of this program, as the build has it: "0.2.0".
const char* version();

}  // namespace rnic::cli
