// `rnicsim analyze FILE|OUT [--tap sender|receiver|middle] [--json] [--ignore-checksums]`: reaction times in a capture.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// `args` is what follows the word "analyze". Returns 0; 1 if the file ends early, and what is there was analysed.
// Throws ConfigError if the command line is wrong, or if the file is not a capture or has no TCP and no pause.
int analyze_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                    const TwinSource* = nullptr);

}  // namespace rnic::cli
