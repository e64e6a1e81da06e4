// rnicsim config --list | --dump | --keys [--set key=value …] [scenario.json]
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

int config_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                   const TwinSource* = nullptr);

}  // namespace rnic::cli
