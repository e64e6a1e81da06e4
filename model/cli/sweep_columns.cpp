#include "model/cli/sweep_columns.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iterator>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/cli/one_run.h"
#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic::cli {
namespace {

// Members of stats.json, at any depth, that a run has only at its end or on request.
constexpr const char* kOfTheEnd[] = {
    "bottleneck_candidates", "checks",      "error",  "errors",      "histogram", "latency_breakdown",
    "latency_cdf",           "not_written", "phases", "utilization", "warmup_ps"};

bool is_of_the_end(const std::string& path) {
  std::istringstream steps(path);
  for (std::string step; std::getline(steps, step, '.');) {
    if (std::find(std::begin(kOfTheEnd), std::end(kOfTheEnd), step) != std::end(kOfTheEnd)) return true;
  }
  return false;
}

// The errors in the columns; empty if there are none.
std::string mistyped(const std::vector<SweepColumn>& columns, const nlohmann::ordered_json& stats) {
  std::string text;
  for (const SweepColumn& c : columns) {
    if (is_of_the_end(c.path)) continue;
    const std::string nearest = nearest_path(stats, c.path);
    if (nearest == c.path) continue;
    text += fmt::format("{}columns: stats.json has nothing at '{}'; the nearest is '{}'", text.empty() ? "" : "; ",
                        cited(c.path), nearest);
  }
  return text;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_all(int descriptor) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t n = read(descriptor, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(piece, static_cast<std::size_t>(n));
  }
}

}  // namespace

void check_columns(const Scenario& scenario, const Overlay& command_line) {
  const std::vector<SweepColumn>& columns = scenario.sweep.columns;
  if (columns.empty() || scenario.has_external_peer()) return;
  int ends[2];
  if (pipe(ends) != 0) return;  // the points report mistyped columns, if they can run at all
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    try {
      write_all(ends[1], mistyped(columns, statistics_before(at_point(scenario, 0), command_line)));
    } catch (const std::exception&) {  // likewise
    }
    _exit(0);
  }
  close(ends[1]);
  const std::string wrong = pid < 0 ? "" : read_all(ends[0]);
  close(ends[0]);
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!wrong.empty()) throw ConfigError(wrong);
}

}  // namespace rnic::cli
