#include "model/cli/rtl_program.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic::cli {

void become_rtl_program(const std::string& command, const std::vector<std::string>& args, RtlProgram which) {
  const char* const name = which == RtlProgram::kInside ? "rnicsim_rtl_trace" : "rnicsim_rtl";
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  std::vector<std::string> words{program.string(), command};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw ConfigError(fmt::format("{}: {} {}, which does not exist; `scripts/build.sh release {}` builds it", command,
                                which == RtlProgram::kInside ? "--lockstep-inside needs" : "--rtl and --lockstep need",
                                program.string(), name));
}

}  // namespace rnic::cli
