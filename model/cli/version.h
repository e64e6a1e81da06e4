#pragma once

namespace rnic::cli {

// The program's version, from the build: "0.2.0".
const char* version();

}  // namespace rnic::cli
