#include "model/cli/config_command.h"

#include <filesystem>
#include <ostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/common/check.h"
#include "model/common/cited.h"
#include "model/config/describe.h"
#include "model/config/nearest.h"
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

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return all;
}

// The settings with this word in their key, their meaning or the words that they take, in any case.
std::vector<FieldInfo> settings_about(const std::string& word, const std::vector<FieldInfo>& all) {
  std::vector<FieldInfo> found;
  std::vector<std::string> parts;  // of keys
  for (const FieldInfo& f : all) {
    const auto has = [&](std::string_view text) { return lower(text).find(lower(word)) != std::string::npos; };
    if (has(f.key) || has(f.type) || has(f.meaning)) found.push_back(f);
    std::istringstream key(f.key);
    for (std::string part; std::getline(key, part, '.');) parts.push_back(part);
  }
  if (!found.empty()) return found;
  throw ConfigError(
      fmt::format("config: --list {}: no setting has that in its key, its meaning or its words; the nearest is {}",
                  cited(word), nearest(lower(word), parts)));
}

// Whatever files there are.
bool names_scenario(const std::string& word) {
  const std::filesystem::path path(word);
  return path.extension() == ".json" || path.has_parent_path();
}

}  // namespace

int config_command(const std::vector<std::string>& args, std::ostream& out, std::ostream&, const TwinSource*) {
  ConfigOptions config;
  po::options_description options("options");
  po::positional_options_description positional;
  options.add_options()("help,h", "this text");
  options.add_options()("list",
                        "every setting with type, default, range, unit and meaning; with a word that is no scenario "
                        "file: those about it");
  options.add_options()("dump", "the settings in effect, as JSON");
  options.add_options()("memories", "the memories of the scenario's nodes, as stats.json has them before the run");
  options.add_options()("keys", "the keys of a scenario file, as the tables of traces/README.md");
  config.add_to(options, positional);
  const po::variables_map given = parse_options(args, options, positional);

  if (given.count("help") != 0) {
    out << "usage: rnicsim config --list [word] | --dump | --keys | --memories [--set key=value]... [scenario.json]\n\n"
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
  std::string word;
  if (given.count("list") != 0 && !names_scenario(config.scenario)) word.swap(config.scenario);
  const SystemConfig effective = resolve_system(config.overlay(config.read_scenario()));
  if (given.count("list") != 0) {
    write_list(out, word.empty() ? list_system() : settings_about(word, list_system()));
  } else {
    out << dump_system(effective).dump(2) << '\n';
  }
  return kOk;
}

}  // namespace rnic::cli
