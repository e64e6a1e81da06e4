#include "model/cli/board_result.h"

#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/message.h"
#include "model/cli/progress.h"

namespace rnic::cli {
namespace {

// The command with the wave of that time, unless it writes one already.
std::string command_with_wave(const Scoreboards::Fault& fault, const OneRun& run) {
  if (!run.options.wave_file.empty()) return run.command;
  constexpr std::uint64_t kBehindPs = 100'000;
  return fmt::format("{} --wave {} --wave-from {}ns --wave-to {}ns", run.command,
                     (std::filesystem::path(run.options.out_dir) / "scoreboard.fst").string(), fault.from_ps / 1000,
                     (fault.to_ps + kBehindPs) / 1000);
}

}  // namespace

int report_mismatch(const Scoreboards::Fault& fault, const AttachedTwins& twins, const std::vector<std::string>& nodes,
                    const OneRun& run, std::ostream& err) {
  const std::size_t first = std::min(fault.text.find('\n'), fault.text.size());
  const std::string in_place = twins.in_place_of(fault.instance);
  err << fmt::format("rnicsim: scoreboard: {}{}: {}{}{}\n", fault.instance, in_place.empty() ? "" : ", " + in_place,
                     fault.text.substr(0, first), fault.of ? ", of request " + fault.of.text(nodes) : "",
                     fault.text.substr(first));
  err << fmt::format("  see       {} in {}\n", time_text(fault.to_ps), command_with_wave(fault, run));
  const std::string inside = twins.write_inside(fault.instance, run.options.out_dir);
  if (!inside.empty()) err << fmt::format("rnicsim: the inside of the twin before it: {}\n", inside);
  return kCheckFailed;
}

int report_boards(const Scoreboards& boards, const OneRun& run, RunOutputs& outputs, std::ostream& err) {
  if (!run.scoreboards.any()) return kOk;
  const Scoreboards::Summary summary = boards.summary();
  if (!run.options.out_dir.empty()) outputs.write("scoreboard.json", summary.json + '\n');
  tell(err, summary.nothing.empty() ? summary.text : summary.nothing);
  return summary.nothing.empty() ? kOk : kCheckFailed;
}

}  // namespace rnic::cli
