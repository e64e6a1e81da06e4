#include "model/cli/one_run.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/cli/board_result.h"
#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/message.h"
#include "model/cli/progress.h"
#include "model/cli/wave_repeat.h"
#include "model/common/check.h"
#include "model/common/kernel_time.h"
#include "model/system/scenario_system.h"

namespace rnic::cli {
namespace {

const char* why_it_stopped(RunEnd end) {
  return end == RunEnd::kHung ? "no progress" : end == RunEnd::kPeerGone ? "the peer has left" : "time limit reached";
}

// What explains a run that did not end well, or what has to be written first.
std::string hint(const Run& run, const RunOptions& options) {
  const std::string& file = options.database_file;
  const auto& files = run.files();
  if (std::find(files.begin(), files.end(), file) == files.end()) {
    return "why: run it again with --db, then rnicsim explain OUT --why\n";
  }
  const bool in_folder = file == (std::filesystem::path(options.out_dir) / "run.sqlite").string();
  return fmt::format("why: rnicsim explain {} --why\n", in_folder ? options.out_dir : file);
}

}  // namespace

int report_run(const System& system, const RunResult& result, const RunOptions& options, std::ostream& out,
               std::ostream& err) {
  const auto& [run, end, twins] = result;
  if (end == RunEnd::kInterrupted) {
    out << fmt::format("incomplete: {} has stopped the run\n", interruption_name());
  }
  out << run.bottleneck().first.line << '\n' << system.programs().table() << system.programs().verdicts();
  out << fmt::format(
      "simulated {} in {:.2f} s of processor time, {} frames, seed {}{}\n", time_text(kernel_time_ps()),
      run.cpu_seconds(), run.frames(), system.config().sim.seed,
      system.cable().faults().any() ? fmt::format(", faults of seed {}", system.cable().faults().seed()) : "");
  out << fmt::format("files: {}\n", fmt::join(run.files(), ", "));
  const bool well = end == RunEnd::kInterrupted || (end == RunEnd::kDone && system.programs().passed());
  if (!well) out << hint(run, options);
  for (const std::string& e : run.errors()) tell(err, e);
  if (!well) {
    for (const std::string& limit : run.limits_met()) tell(err, limit);
  }
  switch (end) {
    case RunEnd::kInterrupted:
      return kSignalled + interruption();
    case RunEnd::kDone:
      return !system.programs().passed() ? kCheckFailed : run.warm() ? kOk : kUsage;
    case RunEnd::kFailed:
      return kCheckFailed;
    default:
      err << fmt::format("rnicsim: {} at {}; waiting programs and stages:\n{}", why_it_stopped(end),
                         time_text(kernel_time_ps()), run.waiting_for() + twins.waiting_for());
      return end == RunEnd::kPeerGone ? kCheckFailed : kHung;
  }
}

int tell_unwritten(const std::vector<std::string>& failures, std::ostream& err) {
  for (const std::string& failure : failures) tell(err, failure);
  return failures.empty() ? kOk : kNotWritten;
}

namespace {

// ConfigError if a second run could differ.
void need_repeatable(const System& system, const OneRun& one) {
  const char* const what = !system.programs().repeats() ? "a peer outside"
                           : one.options.gdb_port       ? "a debugger"
                                                        : nullptr;
  if (what == nullptr) return;
  throw ConfigError(fmt::format("--wave-on and --wave-ring repeat the run, and one with {} cannot be repeated", what));
}

// The waveform of a moment that the run finds. Has a second process that repeats the run, and decides when to ask it.
class FoundWave {
 public:
  FoundWave(System& system, const OneRun& one, std::ostream& err)
      : system_(system),
        one_(one),
        err_(err),
        repeat_([&system, one](const WaveRepeat::Moment& moment) { return repeat(system, one, moment); }) {}

  // Call it from time to time, and once more when the run is over.
  void look(const RunOutputs& outputs, std::uint64_t now_ps, bool over) {
    const WaveTriggers& triggers = *outputs.triggers();
    const std::optional<std::uint64_t> at = triggers.fired_ps();
    if (repeat_.begun() || !at || (!over && !outputs.has_all_before(*at, now_ps))) return;
    const std::uint64_t length = condition().for_ps;
    const std::uint64_t end = length > UINT64_MAX - *at ? UINT64_MAX : *at + length;
    show({*at - std::min(*at, condition().ring_ps.value_or(0)), end, *at},
         fmt::format("{} at {}", triggers.fired(), time_text(*at)));
  }

  // For a run that failed without a trigger: shows the last cycles in which a stage of a chip was called.
  void look_back(const RunOutputs& outputs, const std::string& why, bool failed_check) {
    const bool is_wanted = condition().ring_ps || (failed_check && outputs.triggers()->on_failed_check());
    if (repeat_.begun() || !is_wanted) return;
    std::uint64_t end = 0;
    for (const Station& s : system_.stations()) end = std::max(end, s.node->core_clk.now_ps());
    constexpr std::uint64_t kBehindPs = 1'000'000;
    const std::uint64_t length = condition().ring_ps.value_or(WaveCondition::kUsualPs);
    show({end + kBehindPs - std::min(end + kBehindPs, length), end + kBehindPs, end}, why);
  }

  void finish(RunOutputs& outputs, std::uint64_t now_ps) {
    const std::string& file = one_.options.wave_file;
    if (!repeat_.begun()) {
      if (!condition().on.empty()) {
        tell(err_, fmt::format("{} is not written: there was no {}", file, fmt::join(condition().on, " or ")));
      }
      return;
    }
    const std::string why_not = repeat_.finish(one_.options.stop_requested);
    const bool names_it = why_not.empty() || why_not.rfind(file, 0) == 0;
    outputs.add_waveform(names_it ? why_not : fmt::format("{}: {}", file, why_not));
    if (!why_not.empty()) return;
    err_ << fmt::format("rnicsim: {} shows {} to {}: {}\n", file, time_text(moment_.from_ps),
                        time_text(std::min(moment_.to_ps, now_ps)), why_);
  }

 private:
  const WaveCondition& condition() const { return one_.options.wave_condition; }
  void show(const WaveRepeat::Moment& moment, const std::string& why) {
    moment_ = moment, why_ = why;
    repeat_.begin(moment);
  }

  // In the second process: the same run to the end of the window, without any other output.
  static std::string repeat(System& system, const OneRun& one, const WaveRepeat::Moment& moment) {
    RunOptions options;
    options.out_dir.clear();
    options.capture = false;
    options.wave_file = one.options.wave_file;
    options.wave_window = {moment.from_ps, moment.to_ps, one.options.wave_window.scopes, moment.marked_ps};
    options.warmup_ps = one.options.warmup_ps;
    options.stop_requested = [to_ps = moment.to_ps] { return kernel_time_ps() >= to_ps; };
    TwinOptions twins = one.twins;
    twins.inside = false;
    Run run(system, options);
    const AttachedTwins attached(system.chips(), twins);
    RunEnd end = RunEnd::kFailed;
    try {
      end = run.drive();
    } catch (const std::exception&) {  // the one that ended the first run
    }
    run.write_outputs(end);
    return run.write_failures().empty() ? "" : run.write_failures().front();
  }

  const System& system_;
  const OneRun& one_;
  std::ostream& err_;
  WaveRepeat repeat_;
  WaveRepeat::Moment moment_{};
  std::string why_;
};

const char* why_it_failed(RunEnd end) {
  return end == RunEnd::kDone ? "a check failed" : end == RunEnd::kFailed ? "the run failed" : why_it_stopped(end);
}

}  // namespace

bool explains(const std::exception& e, const AttachedTwins& twins, const Scoreboards& boards, const OneRun& run,
              std::string& beyond) {
  if (twins.faulty() != nullptr || boards.fault()) return true;
  if (!twins.foreign()) return false;
  beyond = fmt::format(
      "the chip cannot go on with the RTL in place of {0}: {1}; --lockstep {0} and the scoreboard find "
      "its first fault",
      run.twins.rtl, e.what());
  return true;
}

int conclude(const System& system, const Finished& finished, const OneRun& one, const Report& report,
             std::ostream& err) {
  const auto& [run, end, twins, boards, beyond] = finished;
  run.write_outputs(end);
  for (const std::string& notice : run.outputs().notices(kernel_time_ps())) tell(err, notice);
  if (!beyond.empty()) tell(err, beyond);
  const std::vector<std::string> nodes = node_names(system.stations());
  int code = kOk;
  if (twins.faulty() != nullptr) {
    code = twins.report_fault(nodes, one.options.out_dir, err);
  } else if (const auto fault = boards.fault()) {
    code = report_mismatch(*fault, twins, nodes, one, err);
  } else {
    code = report_boards(boards, one, run.outputs(), err);  // its file is among those of the report
    code = std::max({code, report({run, end, twins}), beyond.empty() ? int{kOk} : int{kCheckFailed}});
  }
  return std::max(code, tell_unwritten(run.write_failures(), err));
}

int run_system(System& system, const OneRun& one, const Report& report, std::ostream& err) {
  std::optional<FoundWave> wave;
  if (one.options.wave_condition.any()) {
    need_repeatable(system, one);
    wave.emplace(system, one, err);
  }
  Run run(system, one.options);
  const AttachedTwins attached(system.chips(), one.twins);
  Scoreboards boards(system.chips(), one.scoreboards);
  if (run.gdb_port()) err << fmt::format("rnicsim: gdb: target remote 127.0.0.1:{}\n", *run.gdb_port()) << std::flush;
  if (!system.programs().notice().empty()) err << "rnicsim: " << system.programs().notice() << '\n' << std::flush;
  Progress shown;
  RunEnd end = RunEnd::kFailed;
  std::string beyond;
  try {
    end = run.drive([&](std::uint64_t now, std::uint64_t done, std::uint64_t total) {
      if (one.shows_progress) shown.update(now, done, total);
      if (wave) wave->look(run.outputs(), now, false);
    });
  } catch (const std::exception& e) {
    if (!explains(e, attached, boards, one, beyond)) {
      shown.finish();
      if (wave) {
        wave->look(run.outputs(), kernel_time_ps(), true);
        wave->look_back(run.outputs(), "an internal error", false);
        wave->finish(run.outputs(), kernel_time_ps());
      }
      if (!one.twins.rtl.empty()) {
        tell(err, fmt::format("what follows may come from the RTL in place of {0}: --lockstep {0} finds its first "
                              "difference from the stage",
                              one.twins.rtl));
      }
      throw;
    }
  }
  shown.finish();
  if (attached.faulty() == nullptr) boards.finish(run.waiting_for() + attached.waiting_for());
  if (wave) {
    wave->look(run.outputs(), kernel_time_ps(), true);
    const bool well = end == RunEnd::kInterrupted || (end == RunEnd::kDone && system.programs().passed());
    if (!well) wave->look_back(run.outputs(), why_it_failed(end), end == RunEnd::kDone || end == RunEnd::kFailed);
    wave->finish(run.outputs(), kernel_time_ps());
  }
  return conclude(system, {run, end, attached, boards, beyond}, one, report, err);
}

int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& one, std::ostream& out,
            std::ostream& err) {
  if (scenario.has_external_peer() && one.options.gdb_port) {
    throw ConfigError("--gdb does not go with an external peer");
  }
  const auto system = make_system(scenario, command_line);
  return run_system(
      *system, one, [&](const RunResult& result) { return report_run(*system, result, one.options, out, err); }, err);
}

void list_scopes(System& system, std::ostream& out) {
  system.describe();
  for (const std::string& scope : cable_scopes(system.stations())) out << scope << '\n';
  for (const Station& s : system.stations()) {
    for (const std::string& scope : wave_scopes(*s.node, s.parts)) out << scope << '\n';
  }
}

int list_scopes(const Scenario& scenario, const Overlay& command_line, std::ostream& out) {
  if (scenario.has_external_peer())
    throw ConfigError("--wave-scope without a scope: not for a scenario with an external peer, which would be awaited");
  list_scopes(*make_system(scenario, command_line), out);
  return kOk;
}

nlohmann::ordered_json statistics_before(const Scenario& scenario, const Overlay& command_line) {
  RunOptions options;
  options.out_dir.clear();
  options.capture = false;
  options.stop_requested = [] { return true; };
  const auto system = make_system(scenario, command_line);
  Run run(*system, options);
  return run.statistics(run.drive());
}

}  // namespace rnic::cli
