// rnicsim sweep submit SCENARIO (--slurm | --parallel) --out DIR, rnicsim sweep collect DIR
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

int sweep_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                  const TwinSource* twins = nullptr);

}  // namespace rnic::cli
