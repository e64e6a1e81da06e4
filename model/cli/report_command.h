// rnicsim report OUT_DIR [MORE_DIRS...] [-o report.html]
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

int report_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                   const TwinSource* = nullptr);

}  // namespace rnic::cli
