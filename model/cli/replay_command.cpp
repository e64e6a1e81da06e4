#include "model/cli/replay_command.h"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/cli/command.h"
#include "model/cli/options.h"
#include "model/cli/replay/capture_recordings.h"
#include "model/common/check.h"
#include "model/system/replay_simulation.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

nlohmann::ordered_json to_json(const replay::Comparison& comparison) {
  nlohmann::ordered_json differences = nlohmann::ordered_json::array();
  for (const replay::Difference& d : comparison.differences) {
    const nlohmann::ordered_json why =
        d.explained_by.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(d.explained_by);
    differences.push_back({{"what", d.what}, {"expected", d.expected}, {"got", d.got}, {"explained_by", why}});
  }
  return {{"messages", comparison.messages}, {"matched", comparison.matched}, {"differences", differences}};
}

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

std::vector<std::unique_ptr<replay::Script>> read_scripts(const std::string& capture, replay::Side side) {
  const std::vector<replay::Recording> recordings = read_recordings(capture);
  try {
    return replay::make_scripts(recordings, side);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: cannot be replayed: {}", capture, error.what()));
  }
}

}  // namespace

int replay_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  std::string capture, role;
  std::vector<std::string> set;
  po::options_description options("options"), all;
  auto add = options.add_options();
  add("help,h", "this text");
  add("as", po::value(&role)->value_name("server|client"), "the side that the model plays");
  add("json", "machine-readable output");
  add("set", po::value(&set)->value_name("key=value"), "changes a setting; may be repeated");
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

  ReplaySimulation simulation(read_scripts(capture, side), command_line);
  const replay::Comparison comparison = simulation.run();
  if (given.count("json") != 0) out << to_json(comparison).dump(1) << '\n';
  else print(comparison, out);
  return comparison.unexplained() == 0 ? kOk : kCheckFailed;
}

}  // namespace rnic::cli
