#include "model/cli/one_run.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/progress.h"
#include "model/common/kernel_time.h"
#include "model/system/scenario_world.h"

namespace rnic::cli {
namespace {

const char* why_it_stopped(RunEnd end) {
  return end == RunEnd::kHung ? "no progress" : end == RunEnd::kPeerGone ? "the peer has left" : "time limit reached";
}

int report(const World& world, const RunResult& result, std::ostream& out, std::ostream& err) {
  const auto& [run, end, twins] = result;
  if (end == RunEnd::kInterrupted) {
    out << fmt::format("incomplete: {} has stopped the run\n", interruption_name());
  }
  out << run.bottleneck().first.line << '\n' << world.table() << world.verdicts();
  out << fmt::format("simulated {} in {:.2f} s of processor time, {} frames, seed {}{}\n", time_text(kernel_time_ps()),
                     run.cpu_seconds(), run.frames(), world.config().sim.seed,
                     world.faults().any() ? fmt::format(", faults of seed {}", world.faults().seed()) : "");
  out << fmt::format("files: {}\n", fmt::join(run.files(), ", "));
  for (const std::string& e : run.errors()) err << "rnicsim: " << e << '\n';
  switch (end) {
    case RunEnd::kInterrupted:
      return kSignalled + interruption();
    case RunEnd::kDone:
      return world.passed() ? kOk : kCheckFailed;
    case RunEnd::kFailed:
      return kCheckFailed;
    default:
      err << fmt::format("rnicsim: {} at {}; waiting programs and stages:\n{}", why_it_stopped(end),
                         time_text(kernel_time_ps()), run.waiting_for() + twins.waiting_for());
      return end == RunEnd::kPeerGone ? kCheckFailed : kHung;
  }
}

// Says which files could not be written, each with its reason. Returns the exit code.
int tell_unwritten(const std::vector<std::string>& failures, std::ostream& err) {
  for (const std::string& failure : failures) err << "rnicsim: " << failure << '\n';
  return failures.empty() ? kOk : kNotWritten;
}

}  // namespace

int run_world(World& world, const OneRun& one, const Report& report, std::ostream& err) {
  Run run(world, one.options);
  const AttachedTwins attached(world.chips(), one.twins);
  if (run.gdb_port()) err << fmt::format("rnicsim: gdb: target remote 127.0.0.1:{}\n", *run.gdb_port()) << std::flush;
  if (!world.notice().empty()) err << "rnicsim: " << world.notice() << '\n' << std::flush;
  Progress shown;
  RunEnd end = RunEnd::kFailed;
  try {
    end = run.drive([&](std::uint64_t now, std::uint64_t done, std::uint64_t total) {
      if (one.shows_progress) shown.update(now, done, total);
    });
  } catch (const std::exception&) {
    if (attached.parted() == nullptr) throw;
  }
  shown.finish();
  run.write_outputs(end);
  const int code = attached.parted() != nullptr
                       ? attached.report_difference(node_names(world.stations()), one.options.out_dir, err)
                       : report({run, end, attached});
  return std::max(code, tell_unwritten(run.write_failures(), err));
}

int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& one, std::ostream& out,
            std::ostream& err) {
  if (scenario.has_external_peer() && one.options.gdb_port) {
    throw ConfigError("--gdb does not go with an external peer");
  }
  const auto world = make_world(scenario, command_line);
  return run_world(
      *world, one, [&](const RunResult& result) { return report(*world, result, out, err); }, err);
}

}  // namespace rnic::cli
