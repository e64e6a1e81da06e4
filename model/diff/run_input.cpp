#include "model/diff/run_input.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/diff/log_events.h"
#include "model/report/output_files.h"
#include "model/report/run_folder.h"

namespace rnic::diff {
namespace {

namespace fs = std::filesystem;

enum class Kind { kFolder, kDatabase, kLog };
constexpr const char* kWords[] = {"the folder of a run", "a database of --db", "an event log of --trace"};

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

Kind kind_of(const std::string& name) {
  if (std::error_code none; fs::is_directory(name, none)) return Kind::kFolder;
  if (!is_file(name)) throw ConfigError(name + ": there is no such folder, database or event log");
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), ' ');
  std::ifstream(name, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kMagic ? Kind::kDatabase : Kind::kLog;
}

void open_database(RunInput& input, const std::string& file, Vocabulary& vocabulary, unsigned run) {
  auto events = std::make_unique<DatabaseEvents>(file, vocabulary, run);
  input.facts = events->facts();
  input.events = std::move(events);
}

std::string fact_of(const std::vector<Fact>& facts, const std::string& key) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.node.empty() && f.name == key; });
  return found == facts.end() ? "" : found->value;
}

void open_folder(RunInput& input, Vocabulary& vocabulary, unsigned run) {
  const fs::path folder = input.name, stats = folder / "stats.json", database = folder / "run.sqlite";
  if (report::is_sweep(folder)) throw ConfigError(input.name + ": is the folder of a sweep; diff compares two runs");
  if (!is_file(stats)) {
    throw ConfigError(fmt::format("{0}: has no stats.json; rnicsim run … --out {0} writes it", input.name));
  }
  input.folder = input.name;
  input.stats = report::read_stats(stats.string()).value;
  if (!is_file(database)) return;
  open_database(input, database.string(), vocabulary, run);
  if (fact_of(input.facts, "digest") == input.stats->value("digest", "")) return;
  throw ConfigError(database.string() + ": is of another run than stats.json");
}

RunInput open(const std::string& name, Kind kind, Vocabulary& vocabulary, unsigned run) {
  RunInput input;
  input.name = name;
  if (kind == Kind::kFolder) open_folder(input, vocabulary, run);
  else if (kind == Kind::kDatabase) open_database(input, name, vocabulary, run);
  else input.events = std::make_unique<LogEvents>(name, vocabulary, run);
  return input;
}

std::set<std::string> nodes_of(const RunInput& input, const Vocabulary& vocabulary, unsigned run) {
  std::set<std::string> nodes;
  if (input.stats && input.stats->contains("config")) {
    for (const auto& [node, settings] : (*input.stats)["config"].items()) nodes.insert(node);
  }
  for (const Fact& fact : input.facts) {
    if (!fact.node.empty()) nodes.insert(fact.node);
  }
  for (const Source& source : vocabulary.sources()) {
    if (source.in[run]) nodes.insert(source.node);
  }
  return nodes;
}

}  // namespace

std::string RunInput::fact(const std::string& key) const {
  if (!stats) return fact_of(facts, key);
  if (!stats->contains(key)) return "";
  const nlohmann::ordered_json& value = (*stats)[key];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::unique_ptr<RunInputs> open_runs(const std::string& a, const std::string& b) {
  const Kind of_a = kind_of(a), of_b = kind_of(b);
  if ((of_a == Kind::kLog) != (of_b == Kind::kLog)) {
    throw ConfigError(fmt::format("{} is {}, {} is {}: two of a kind can be compared", a,
                                  kWords[static_cast<int>(of_a)], b, kWords[static_cast<int>(of_b)]));
  }
  auto runs = std::make_unique<RunInputs>();
  runs->a = open(a, of_a, runs->vocabulary, 0);
  runs->b = open(b, of_b, runs->vocabulary, 1);
  const std::set<std::string> these = nodes_of(runs->a, runs->vocabulary, 0),
                              those = nodes_of(runs->b, runs->vocabulary, 1);
  if (these != those) {
    throw ConfigError(fmt::format("the runs have different nodes: {} in {}, {} in {}", fmt::join(these, ", "), a,
                                  fmt::join(those, ", "), b));
  }
  return runs;
}

}  // namespace rnic::diff
