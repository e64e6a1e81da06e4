#include "model/cli/config_command.h"

#include <ostream>
#include <utility>

#include "model/cli/command.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/config/describe.h"
#include "model/system/key_table.h"
#include "model/system/scenario_assignment.h"
#include "model/system/system_config.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

// Of statistics, the parts that describe a memory (model/common/memory.h).
nlohmann::ordered_json memories_of(const nlohmann::ordered_json& part) {
  auto found = nlohmann::ordered_json::object();
  for (const auto& [name, inner] : part.items()) {
    if (!inner.is_object()) continue;
    const bool is_memory = inner.contains("entries") && inner.contains("bits") && inner.contains("size");
    nlohmann::ordered_json memories = is_memory ? inner : memories_of(inner);
    if (!memories.empty()) found[name] = std::move(memories);
  }
  return found;
}

nlohmann::ordered_json memories_of(const ConfigOptions& config) {
  if (config.scenario.empty()) throw ConfigError("config: --memories needs a scenario, whose nodes have them");
  Overlay assigned;
  for (const std::string& assignment : config.set) assigned.set(assignment);
  const Scenario all = read_scenario(config.scenario, scenario_values(assigned));
  const Scenario& scenario = all.sweep.empty() ? all : at_point(all, 0);
  if (scenario.has_external_peer()) throw ConfigError("config: --memories is not for a scenario with an external peer");
  return {{"stats", memories_of(statistics_before(scenario, settings_of_all(assigned))["stats"])}};
}

}  // namespace

int config_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  ConfigOptions config;
  po::options_description options("options");
  po::positional_options_description positional;
  options.add_options()("help,h", "this text");
  options.add_options()("list", "every setting with type, default, range, unit and meaning");
  options.add_options()("dump", "the settings in effect, as JSON");
  options.add_options()("memories", "the memories of the scenario's nodes, as stats.json has them before the run");
  options.add_options()("keys", "the keys of a scenario file, as the tables of traces/README.md");
  config.add_to(options, positional);
  const po::variables_map given = parse_options(args, options, positional);

  if (given.count("help") != 0) {
    out << "usage: rnicsim config --list | --dump | --keys | --memories [--set key=value]... [scenario.json]\n\n"
        << options;
    return kOk;
  }
  if (given.count("list") + given.count("dump") + given.count("keys") + given.count("memories") != 1) {
    throw ConfigError("config: give one of --list, --dump, --keys and --memories");
  }
  if (given.count("keys") != 0) {
    const char* between = "";
    for (const KeyTable& table : key_tables()) {
      out << std::exchange(between, "\n") << "## " << table.element << "\n\n" << table.text;
    }
    return kOk;
  }
  if (given.count("memories") != 0) {
    out << memories_of(config).dump(2) << '\n';
    return kOk;
  }
  const SystemConfig effective = resolve_system(config.overlay(config.read_scenario()));
  if (given.count("list") != 0) {
    write_list(out, list_system());
  } else {
    out << dump_system(effective).dump(2) << '\n';
  }
  return kOk;
}

}  // namespace rnic::cli
