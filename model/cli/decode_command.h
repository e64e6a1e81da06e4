// `rnicsim decode CAPTURE [--list [--filter key=value]...] [--json] [--ignore-checksums]`: the iWARP traffic in a
// capture.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// `args` is what follows the word "decode". Returns 0; 1 if part of the capture could not be decoded, which the output
// names; 2 if the command line is wrong or the file is not a capture, which is reported to `err`.
int decode_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                   const TwinSource* = nullptr);

}  // namespace rnic::cli
