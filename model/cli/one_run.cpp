#include "model/cli/one_run.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/progress.h"

namespace rnic::cli {
namespace {

// Above this share a resource limits the run; what remains are gaps at its start and end.
constexpr double kSaturated = 0.95;

std::string binding_text(const std::vector<Utilization>& by_share) {
  if (by_share.empty()) return "nothing is saturated: no work was begun";
  const Utilization& busiest = by_share.front();
  const std::string load = fmt::format("{} ({:.1f} % busy)", busiest.resource, 100 * busiest.share);
  if (busiest.share >= kSaturated) return "binds: " + load;
  return fmt::format("nothing is saturated (none above {:.0f} %); busiest: {}", 100 * kSaturated, load);
}

int report(const Simulation& sim, const AttachedTwins& twins, RunEnd end, std::ostream& out, std::ostream& err) {
  if (end == RunEnd::kInterrupted) {
    out << fmt::format("incomplete: {} has stopped the run\n", interruption_name());
  }
  out << workload::results_table(sim.results(), sim.cycle_ps()) << '\n';
  bool passed = end == RunEnd::kDone;
  for (const CheckResult& c : sim.checks()) {
    out << fmt::format("check {}: {} ({})\n", c.name, c.passed ? "passed" : "FAILED", c.text);
    passed &= c.passed;
  }
  out << binding_text(sim.utilization()) << '\n';
  const double cpu = sim.cpu_seconds();
  out << fmt::format("simulated {} in {:.2f} s of processor time, {} frames, seed {}{}\n", time_text(sim.now_ps()), cpu,
                     sim.frames(), sim.seed(),
                     sim.fault_seed() ? fmt::format(", faults of seed {}", *sim.fault_seed()) : "");
  out << fmt::format("files: {}\n", fmt::join(sim.files(), ", "));
  for (const std::string& e : sim.errors()) err << "rnicsim: " << e << '\n';
  if (end == RunEnd::kInterrupted) return kSignalled + interruption();
  if (end != RunEnd::kHung && end != RunEnd::kTimeLimit) return passed ? kOk : kCheckFailed;
  err << fmt::format("rnicsim: {} at {}; waiting programs and stages:\n{}",
                     end == RunEnd::kHung ? "no progress" : "time limit reached", time_text(sim.now_ps()),
                     sim.waiting_for() + twins.waiting_for());
  return kHung;
}

}  // namespace

int tell_unwritten(const std::vector<std::string>& failures, std::ostream& err) {
  for (const std::string& failure : failures) err << "rnicsim: " << failure << '\n';
  return failures.empty() ? kOk : kNotWritten;
}

int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& run, std::ostream& out,
            std::ostream& err) {
  Simulation sim(scenario, command_line, run.options);
  const AttachedTwins attached(sim.chips(), run.twins);
  if (sim.gdb_port()) err << fmt::format("rnicsim: gdb: target remote 127.0.0.1:{}\n", *sim.gdb_port()) << std::flush;
  Progress shown;
  RunEnd end = RunEnd::kFailed;
  try {
    end = sim.run([&](std::uint64_t now, std::uint64_t done, std::uint64_t total) {
      if (run.shows_progress) shown.update(now, done, total);
    });
  } catch (const std::exception&) {
    if (attached.parted() == nullptr) throw;
  }
  shown.finish();
  sim.write_outputs(end);
  const int code = attached.parted() != nullptr ? attached.report_difference(run.options.out_dir, err)
                                                : report(sim, attached, end, out, err);
  return std::max(code, tell_unwritten(sim.write_failures(), err));
}

}  // namespace rnic::cli
