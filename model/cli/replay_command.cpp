#include "model/cli/replay_command.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/capture/replay/capture_recordings.h"
#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/message.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/cli/output_options.h"
#include "model/cli/progress.h"
#include "model/common/check.h"
#include "model/common/kernel_time.h"
#include "model/system/replay_programs.h"
#include "model/system/stats_report.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

replay::Side side_of(const std::string& role) {
  if (role == "server") return replay::Side::kResponder;
  if (role == "client") return replay::Side::kInitiator;
  throw ConfigError(fmt::format("replay: --as '{}': server or client?", role));
}

std::vector<std::unique_ptr<replay::Script>> make_scripts(const std::string& path,
                                                          const capture::CaptureRecordings& recordings,
                                                          replay::Side side) {
  try {
    return replay::make_scripts(recordings.list, side);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: cannot be replayed: {}", path, error.what()));
  }
}

int report(const ReplayPrograms& programs, const RunResult& result, const std::string& ends_at, bool json,
           std::ostream& out, std::ostream& err) {
  const auto& [run, end, twins] = result;
  const bool interrupted = end == RunEnd::kInterrupted;
  if (json) {
    nlohmann::ordered_json j = comparison_json(programs.comparison());
    if (!ends_at.empty()) j["capture_ends_at"] = ends_at;
    if (interrupted) j["incomplete"] = interruption_name();
    out << j.dump(1) << '\n';
  } else {
    if (interrupted) out << fmt::format("incomplete: {} has stopped the replay\n", interruption_name());
    if (!ends_at.empty()) out << fmt::format("partial: {}\n", ends_at);
    out << programs.table();
    if (!run.files().empty()) out << fmt::format("files: {}\n", fmt::join(run.files(), ", "));
  }
  for (const std::string& e : run.errors()) tell(err, e);
  if (interrupted) return kSignalled + interruption();
  if (end == RunEnd::kTimeLimit) {
    err << fmt::format("rnicsim: time limit reached at {}; waiting programs and stages:\n{}",
                       time_text(kernel_time_ps()), run.waiting_for());
    return kHung;
  }
  if (end == RunEnd::kFailed) return programs.firmware_failed() ? kCheckFailed : kUsage;
  return programs.passed() ? kOk : kCheckFailed;
}

}  // namespace

int replay_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource*) {
  std::string file, role;
  std::vector<std::string> set;
  OneRun run;
  run.options.out_dir.clear();
  OutputOptions watching(run.options);
  po::options_description options("options"), all;
  auto add = options.add_options();
  add("help,h", "this text");
  add("as", po::value(&role)->value_name("server|client"), "the side that the model plays");
  add("json", "machine-readable output");
  add("partial", "of a capture that is not whole, replays what comes before the first frame or octet that is missing");
  add("set", po::value(&set)->value_name("key=value"), "changes a setting; may be repeated");
  add("out,o", po::value(&run.options.out_dir)->value_name("dir"),
      "folder for the outputs of the replay: stats.json, stats.txt, wire.pcapng, fw_log.txt");
  watching.add_to(options);
  all.add(options).add_options()("capture", po::value(&file));
  const po::variables_map given =
      parse_options(OutputOptions::with_values(args), all, po::positional_options_description().add("capture", 1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim replay CAPTURE --as server|client [options]\n\n" << options;
    return kOk;
  }
  if (file.empty() || role.empty()) throw ConfigError("replay: rnicsim replay CAPTURE --as server|client");
  Overlay command_line;
  for (const std::string& assignment : set) command_line.set(assignment);
  const replay::Side side = side_of(role);

  watching.read("replay", given);
  run.options.stop_requested = [] { return interruption() != 0; };
  catch_interruptions();

  const capture::CaptureRecordings recordings = capture::read_recordings(file, given.count("partial") != 0);
  ReplayPrograms::Scripts scripts = make_scripts(file, recordings, side);
  System system(ReplayPrograms::settings(scripts, command_line));
  const auto& programs =
      system.start<ReplayPrograms>(std::move(scripts), nlohmann::ordered_json{{"capture", file}, {"as", role}});
  if (watching.lists_scopes()) {
    list_scopes(system, out);
    return kOk;
  }
  const bool json = given.count("json") != 0;
  return run_system(
      system, run,
      [&](const RunResult& result) { return report(programs, result, recordings.ends_at, json, out, err); }, err);
}

}  // namespace rnic::cli
