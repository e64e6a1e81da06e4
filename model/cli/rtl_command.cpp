#include "model/cli/rtl_command.h"

#include <array>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic::cli {
namespace {

constexpr int kNotFound = 127;  // as a shell says it

std::string script() {
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../share/rnicsim/scripts/rtl_library.py", "../../../scripts/rtl_library.py"}) {
    if (std::filesystem::exists(bin / place)) return (bin / place).lexically_normal().string();
  }
  return {};
}

// Returns only if there is no Python.
void become_script(const std::vector<std::string>& args) {
  std::vector<std::string> words{"python3", "-B", script()};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t bytes = ::read(fd, part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

int rtl_command(const std::vector<std::string>& args, std::ostream&, std::ostream&, const TwinSource*) {
  if (!can_build_rtl()) throw ConfigError("rtl: the program's share/rnicsim/scripts/rtl_library.py is missing");
  become_script(args);
  throw ConfigError("rtl: it needs python3, which is not installed");
}

bool can_build_rtl() { return !script().empty(); }

std::string build_rtl(const std::string& block, const TwinParameters& parameters) {
  std::vector<std::string> args{block, "--for-run"};
  for (const TwinParameter& p : parameters) args.push_back(fmt::format("-G{}={}", p.name, p.value));
  int ends[2];
  if (::pipe(ends) != 0) throw ConfigError("rtl: there is no pipe left");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    become_script(args);
    ::_exit(kNotFound);
  }
  ::close(ends[1]);
  const std::string said = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  const bool has_python = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) != kNotFound;
  throw ConfigError(fmt::format("the RTL of {} cannot be built for this run: {}", block,
                                !has_python    ? "python3 does not run"
                                : said.empty() ? "it has ended"
                                               : said.c_str()));
}

}  // namespace rnic::cli
