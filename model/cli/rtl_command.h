// `rnicsim rtl` builds a library of a block's RTL; it is the script scripts/rtl_library.py, which lies beside the
// program or in its source tree.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/rnic/twins.h"

namespace rnic::cli {

// Becomes the script. ConfigError if it or Python is missing.
int rtl_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const TwinSource* = nullptr);

// Whether the script is there.
bool can_build_rtl();

// The library of our own module of a block with these parameters, out of the script's cache or built. ConfigError with
// the script's sentence if that fails.
std::string build_rtl(const std::string& block, const TwinParameters& parameters);

}  // namespace rnic::cli
