// rnicsim contains neither SystemVerilog twins nor worked vectors: few runs need them, and they take as long to build
// as the rest. If its command line asks for them, it becomes another program in its folder, which is the same with
// them.
#pragma once

#include <string>
#include <vector>

namespace rnic::cli {

enum class OtherProgram { kRtl, kRtlInside, kVectors };  // kRtlInside: twins with internal signals

// Whether it lies beside this one.
bool is_there(OtherProgram which);

// Never returns. If there is no such program, the ConfigError says how to build it.
[[noreturn]] void become(OtherProgram which, const std::string& command, const std::vector<std::string>& args);

}  // namespace rnic::cli
