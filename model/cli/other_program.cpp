#include "model/cli/other_program.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic::cli {
namespace {

struct Description {
  const char* name;
  const char* who_needs_it;
};

// In the order of OtherProgram.
constexpr Description kPrograms[] = {{"rnicsim_rtl", "--rtl and --lockstep need"},
                                     {"rnicsim_rtl_trace", "--lockstep-inside needs"},
                                     {"rnicsim_vectors", "it needs"}};

std::filesystem::path path_of(OtherProgram which) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() /
         kPrograms[static_cast<std::size_t>(which)].name;
}

}  // namespace

bool is_there(OtherProgram which) { return std::filesystem::exists(path_of(which)); }

void become(OtherProgram which, const std::string& command, const std::vector<std::string>& args) {
  const auto& [name, who_needs_it] = kPrograms[static_cast<std::size_t>(which)];
  const std::filesystem::path program = path_of(which);
  std::vector<std::string> words{program.string(), command};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw ConfigError(fmt::format("{}: {} {}, which does not exist; `scripts/build.sh release {}` builds it", command,
                                who_needs_it, program.string(), name));
}

}  // namespace rnic::cli
