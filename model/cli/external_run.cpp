#include "model/cli/external_run.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/one_run.h"
#include "model/cli/progress.h"
#include "model/system/external_simulation.h"

namespace rnic::cli {

namespace {

using End = ExternalSimulation::End;

int report(const ExternalSimulation& sim, const AttachedTwins& twins, End end, std::ostream& out, std::ostream& err) {
  if (end == End::kInterrupted) out << fmt::format("incomplete: {} has stopped the run\n", interruption_name());
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
  if (end == End::kInterrupted) return kSignalled + interruption();
  err << fmt::format("rnicsim: {} at {}; waiting programs and stages:\n{}",
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
  const int code = attached.parted() != nullptr ? attached.report_difference(options.out_dir, err)
                                                : report(sim, attached, end, out, err);
  return std::max(code, tell_unwritten(sim.write_failures(), err));
}

}  // namespace rnic::cli
