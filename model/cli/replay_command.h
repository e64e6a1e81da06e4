// `rnicsim replay CAPTURE --as server|client`: the model instead of one side of a captured connection.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// `args` is what follows the word "replay". kCheckFailed for an unexplained difference.
int replay_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                   const TwinSource* = nullptr);

}  // namespace rnic::cli
