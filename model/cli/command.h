// What every subcommand of rnicsim is.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// How the program ends; scripts rely on the numbers.
enum ExitCode : int {
  kOk = 0,
  kCheckFailed = 1,
  kUsage = 2,  // command line, configuration, files
  kHung = 3,   // deadlock or time limit
  kInternal = 4,
};

// Takes what follows the subcommand's name; returns an exit code or throws. `twins` is null in a program without RTL.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins);
};

}  // namespace rnic::cli
