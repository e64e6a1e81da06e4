#include "model/cli/external_run.h"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cli/command.h"
#include "model/cli/progress.h"
#include "model/system/external_simulation.h"

namespace rnic::cli {

namespace {

using End = ExternalSimulation::End;

int report(const ExternalSimulation& sim, const AttachedTwins& twins, End end, std::ostream& out, std::ostream& err) {
  for (const auto& p : sim.programs()) {
    const consumer::Consumer::Record& r = p->record();
    out << fmt::format("{}: {} rounds, {} octets, {}{}\n", p->spec().name, r.rounds, r.bytes,
                       r.refused == 0 ? "" : fmt::format("{} connections refused, ", r.refused),
                       p->done()             ? "done"
                       : !p->error().empty() ? "FAILED"
                                             : "not complete");
  }
  out << fmt::format("simulated {} in {:.2f} s, {} frames, seed {}\n", time_text(sim.now_ps()), sim.wall_seconds(),
                     sim.frames(), sim.seed());
  out << fmt::format("files: {}\n", fmt::join(sim.files(), ", "));
  for (const std::string& e : sim.errors()) err << "rnicsim: " << e << '\n';
  if (end == End::kDone) return kOk;
  if (end == End::kFailed) return kCheckFailed;
  err << fmt::format("rnicsim: {} at {}; who waits for whom:\n{}",
                     end == End::kPeerGone ? "the peer has left" : "time limit reached", time_text(sim.now_ps()),
                     sim.waiting_for() + twins.waiting_for());
  return end == End::kPeerGone ? kCheckFailed : kHung;
}

}  // namespace

int run_external(const Scenario& scenario, const Overlay& command_line, const RunOptions& options,
                 const TwinOptions& twins, std::ostream& out, std::ostream& err) {
  ExternalSimulation sim(scenario, command_line, options);
  const AttachedTwins attached(sim.chips(), twins);
  err << "rnicsim: waiting for the peer\n" << std::flush;
  End end = End::kFailed;
  try {
    end = sim.run();
  } catch (const std::exception&) {
    if (attached.parted() == nullptr) throw;
  }
  sim.write_outputs(end);
  if (attached.parted() != nullptr) return attached.report_difference(options.out_dir, err);
  return report(sim, attached, end, out, err);
}

}  // namespace rnic::cli
