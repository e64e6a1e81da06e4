// rnicsim has no SystemVerilog twins and no worked vectors in it, since few runs need them and they take as long to
// build as the rest. Where its command line asks for them it hands it to a program beside it, which is the same with
// them.
#pragma once

#include <string>
#include <vector>

namespace rnic::cli {

enum class OtherProgram { kRtl, kRtlInside, kVectors };  // kRtlInside: with twins that show their inside

// Never returns. ConfigError where there is no such program, which says how to build it.
[[noreturn]] void become(OtherProgram which, const std::string& command, const std::vector<std::string>& args);

}  // namespace rnic::cli
