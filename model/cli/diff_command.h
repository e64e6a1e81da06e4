// `rnicsim diff A B`: where two runs first differ, and by how much.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// `args` is what follows the word "diff". Exit code 0 if the runs are equal, 1 if not.
int diff_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                 const TwinSource* = nullptr);

}  // namespace rnic::cli
