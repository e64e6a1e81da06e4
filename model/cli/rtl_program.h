// rnicsim has no SystemVerilog twins in it, since few runs need them and they take as long to build as the rest. Where
// --rtl or --lockstep asks for them, it hands its command line to rnicsim_rtl, the same program with them, beside it.
#pragma once

#include <string>
#include <vector>

namespace rnic::cli {

// The same with twins that show their inside is rnicsim_rtl_trace.
enum class RtlProgram { kPlain, kInside };

// Never returns. ConfigError where there is no such program, which says how to build it.
[[noreturn]] void become_rtl_program(const std::string& command, const std::vector<std::string>& args,
                                     RtlProgram which = RtlProgram::kPlain);

}  // namespace rnic::cli
