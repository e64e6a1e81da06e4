#include "model/report/run_folder.h"

#include <fstream>
#include <set>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/report/causes.h"
#include "model/report/output_files.h"
#include "model/report/run_events.h"
#include "model/report/sequence_graph.h"
#include "model/report/series_columns.h"

namespace rnic::report {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kStats = "stats.json";
constexpr const char* kSweep = "sweep.json";
constexpr const char* kDatabase = "run.sqlite";
// A log may be long, and nobody reads more than this on a page.
constexpr std::size_t kMostLogLines = 2000;

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

ordered_json read_log(const fs::path& file) {
  ordered_json log{{"lines", ordered_json::array()}, {"all", 0}};
  std::ifstream in(file);
  std::size_t all = 0;
  for (std::string line; std::getline(in, line); ++all) {
    if (all < kMostLogLines) log["lines"].push_back(line);
  }
  log["all"] = all;
  return log;
}

ordered_json settings_json(const std::vector<FieldInfo>& settings) {
  ordered_json list = ordered_json::array();
  for (const FieldInfo& s : settings) {
    list.push_back({{"key", s.key},
                    {"type", s.type},
                    {"default", nlohmann::json::parse(s.value)},
                    {"unit", s.unit},
                    {"meaning", s.meaning}});
  }
  return list;
}

// A script's numbers are doubles: larger ones (drawn seeds) become text.
void make_exact(ordered_json& value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  if (value.is_structured()) {
    for (ordered_json& element : value) make_exact(element);
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) {
    value = value.dump();
  }
}

// The latency breakdown's example requests.
std::vector<ChosenRequest> examples_of(const ordered_json& stats) {
  std::vector<ChosenRequest> examples;
  if (!stats.contains("latency_breakdown")) return examples;
  for (const ordered_json& breakdown : stats["latency_breakdown"]) {
    if (!breakdown.contains("examples")) continue;
    const std::string operation = breakdown["operation"], work = breakdown.value("work", "");
    if (operation == "receive") continue;  // it has the sequence of its message
    const std::string of = work.empty() ? operation : fmt::format("{}, {}", work, operation);
    for (const auto& [which, id] : breakdown["examples"].items()) {
      examples.push_back({id.get<std::string>(), fmt::format("{}, {}", of, which)});
    }
  }
  return examples;
}

// The last part of each path, or the whole paths if several have the same last part.
std::vector<std::string> names_of(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const std::string& folder : folders) {
    fs::path path = fs::path(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    names.push_back(path.filename().string());
    if (names.back().empty() || names.back() == ".") names.back() = folder;
    known.insert(names.back());
  }
  return known.size() == names.size() ? names : folders;
}

}  // namespace

// A sweep removes an earlier run's stats.json, and a run does not remove an earlier sweep.json.
bool is_sweep(const fs::path& folder) { return is_file(folder / kSweep) && !is_file(folder / kStats); }

ordered_json read_run(const fs::path& folder, const std::string& name) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) throw ConfigError(folder.string() + ": no folder of that name");
  if (!is_file(folder / kStats)) {
    throw ConfigError(
        fmt::format("{}: neither stats.json of a run nor sweep.json of a sweep is there", folder.string()));
  }
  ordered_json run{{"name", name}, {"folder", folder.string()}};
  run["stats"] = read_stats((folder / kStats).string()).value;
  if (run["stats"].contains("config")) make_exact(run["stats"]["config"]);
  if (is_file(folder / "series.json"))
    run["series"] = series_columns(read_series((folder / "series.json").string()).value);
  return run;
}

void add_story(ordered_json& run, const fs::path& folder, const std::vector<std::string>& requests) {
  if (is_file(folder / "fw_log.txt")) run["firmware_log"] = read_log(folder / "fw_log.txt");
  if (is_file(folder / "wire.pcapng")) run["sequences"] = sequence_graph((folder / "wire.pcapng").string());
  if (const std::string database = (folder / kDatabase).string(); is_file(database)) {
    run["requests"] = request_events(database, requests, examples_of(run["stats"]));
    run["commands"] = firmware_commands(database);
    run["why"] = causes(database);
  } else if (!requests.empty()) {
    throw ConfigError(fmt::format("--request: there is no {}; rnicsim run with --db writes it", database));
  }
}

ordered_json read_folders(const std::vector<std::string>& folders, const std::vector<FieldInfo>& settings,
                          const std::vector<std::string>& requests) {
  ordered_json data;
  data["settings"] = settings_json(settings);
  const std::vector<std::string> names = names_of(folders);
  if (!requests.empty() && (folders.size() != 1 || is_sweep(folders.front()))) {
    throw ConfigError("--request: the page of a single run shows requests");
  }
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (!is_sweep(folders[i])) {
      data["runs"].push_back(read_run(folders[i], names[i]));
      if (folders.size() == 1) add_story(data["runs"].back(), folders[i], requests);
    } else if (folders.size() > 1) {
      throw ConfigError(fmt::format("{}: a sweep has a report of its own; give its folder alone", folders[i]));
    } else {
      data["sweep"] = read_sweep_folder(folders[i], names[i]);
    }
  }
  return data;
}

}  // namespace rnic::report
