// rnicsim run SCENARIO [--out DIR] [--set key=value …] [--wave FILE …]
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

int run_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const TwinSource* twins = nullptr);

}  // namespace rnic::cli
