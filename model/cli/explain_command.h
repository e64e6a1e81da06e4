// `rnicsim explain OUT --request a.3.17 | --slowest 5`: the history of single requests of a run.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// `args` is what follows the word "explain".
int explain_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                    const TwinSource* = nullptr);

}  // namespace rnic::cli
