#include "model/cli/replay_command.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/capture/replay/capture_recordings.h"
#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/cli/output_options.h"
#include "model/common/check.h"
#include "model/system/replay_simulation.h"
#include "model/system/stats_report.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

using End = ReplaySimulation::End;

void print(const replay::Comparison& comparison, std::ostream& out) {
  for (const replay::Difference& d : comparison.differences) {
    out << fmt::format("{}\n  expected  {}\n  got       {}\n  {}\n", d.what, d.expected, d.got,
                       d.explained_by.empty() ? "unexplained" : "explained by " + d.explained_by);
  }
  out << fmt::format("{} messages, {} matched, {} differences, {} unexplained\n", comparison.messages,
                     comparison.matched, comparison.differences.size(), comparison.unexplained());
}

replay::Side side_of(const std::string& role) {
  if (role == "server") return replay::Side::kResponder;
  if (role == "client") return replay::Side::kInitiator;
  throw ConfigError(fmt::format("replay: --as '{}': server or client?", role));
}

std::vector<std::unique_ptr<replay::Script>> read_scripts(const std::string& path, replay::Side side) {
  const std::vector<replay::Recording> recordings = capture::read_recordings(path);
  try {
    return replay::make_scripts(recordings, side);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: cannot be replayed: {}", path, error.what()));
  }
}

int report(const ReplaySimulation& simulation, End end, bool json, std::ostream& out, std::ostream& err) {
  const replay::Comparison comparison = simulation.comparison();
  if (json) {
    nlohmann::ordered_json j = comparison_json(comparison);
    if (end == End::kInterrupted) j["incomplete"] = interruption_name();
    out << j.dump(1) << '\n';
  } else {
    if (end == End::kInterrupted) out << fmt::format("incomplete: {} has stopped the replay\n", interruption_name());
    print(comparison, out);
    if (!simulation.files().empty()) out << fmt::format("files: {}\n", fmt::join(simulation.files(), ", "));
  }
  const std::vector<std::string> errors = simulation.errors();
  for (const std::string& e : errors) err << "rnicsim: " << e << '\n';
  if (end == End::kInterrupted) return kSignalled + interruption();
  if (!errors.empty()) return kCheckFailed;
  if (end == End::kFailed) return err << "rnicsim: " << simulation.host_error() << '\n', kUsage;
  return comparison.unexplained() == 0 ? kOk : kCheckFailed;
}

}  // namespace

int replay_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource*) {
  std::string capture, role;
  std::vector<std::string> set;
  RunOptions outputs;
  outputs.out_dir.clear();
  OutputOptions watching(outputs);
  po::options_description options("options"), all;
  auto add = options.add_options();
  add("help,h", "this text");
  add("as", po::value(&role)->value_name("server|client"), "the side that the model plays");
  add("json", "machine-readable output");
  add("set", po::value(&set)->value_name("key=value"), "changes a setting; may be repeated");
  add("out", po::value(&outputs.out_dir)->value_name("dir"),
      "folder for the outputs of the replay: stats.json, wire.pcapng, fw_log.txt");
  watching.add_to(options);
  all.add(options).add_options()("capture", po::value(&capture));
  const po::variables_map given = parse_options(args, all, po::positional_options_description().add("capture", 1));
  if (given.count("help") != 0) {
    out << "usage: rnicsim replay CAPTURE --as server|client [options]\n\n" << options;
    return kOk;
  }
  if (capture.empty() || role.empty()) throw ConfigError("replay: rnicsim replay CAPTURE --as server|client");
  Overlay command_line;
  for (const std::string& assignment : set) command_line.set(assignment);
  const replay::Side side = side_of(role);

  watching.read("replay", given);
  outputs.stop_requested = [] { return interruption() != 0; };
  catch_interruptions();

  ReplaySimulation simulation(read_scripts(capture, side), command_line, outputs);
  const End end = simulation.run();
  simulation.write_outputs(end, {{"capture", capture}, {"as", role}});
  const int written = tell_unwritten(simulation.write_failures(), err);
  return std::max(written, report(simulation, end, given.count("json") != 0, out, err));
}

}  // namespace rnic::cli
