// The common form of rnicsim's subcommands.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace rnic {
class TwinSource;
}

namespace rnic::cli {

// Exit codes of the program; scripts rely on the numbers. If several apply, the highest counts. A run that a signal has
// stopped ends with 128 plus the signal's number.
enum ExitCode : int {
  kOk = 0,
  kCheckFailed = 1,
  kUsage = 2,  // command line, configuration, files to read
  kHung = 3,   // deadlock or time limit
  kInternal = 4,
  kNotWritten = 5,  // an output, for example because the disk is full
  kSignalled = 128,
};

// `run` takes the arguments after the subcommand's name; it returns an exit code or throws. `twins` is null in a
// program without RTL. `run` is null for the command `vectors`, which only some programs contain.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins);
};

}  // namespace rnic::cli
