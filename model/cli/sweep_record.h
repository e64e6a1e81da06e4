// A sweep's record of a point's run, and the file to which it is appended.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/system/sweep.h"

namespace rnic::cli {

// JSON of program output, which need not be UTF-8.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// The run ended on its own, and would end the same way again.
bool is_finished(int exit_code);

// The record of the run in that folder: "id", "exit_code", "end", "digest", "columns" as pairs of path and value,
// "nearest" (the intended path for each one that does not exist), "results" of each item, "checks", "bottleneck" if
// stats.json has one, and "error", the reason for a nonzero exit code. `report` is the run's output.
nlohmann::ordered_json record_of(const std::string& id, int exit_code, const std::string& folder,
                                 const std::string& report, const std::vector<SweepColumn>& columns);
// A record that is alone in a file; nothing if it is invalid or incomplete.
std::optional<nlohmann::ordered_json> read_record(const std::string& file);

// Records as lines of JSON, one for each point that has run. The file survives its writer: a line that was cut off is
// no record. A whole line that is no valid record is an error. Each process of a sweep has its own file in the same
// folder.
class SweepJournal {
 public:
  using Records = std::map<std::string, nlohmann::ordered_json>;  // by "id"

  // "points.jsonl", or for a share of the points "points.3-of-16.jsonl". ConfigError if another process has it open.
  SweepJournal(const std::string& folder, const std::string& share);
  ~SweepJournal();
  SweepJournal(const SweepJournal&) = delete;
  SweepJournal& operator=(const SweepJournal&) = delete;

  // Throws OutputError.
  void append(const nlohmann::ordered_json& record);

  // Records of all files in the folder. If a point has several, a finished one counts, otherwise the last. ConfigError
  // with file, line and path for an invalid record.
  static Records read(const std::string& folder);
  // ConfigError if another process has one of the files open.
  static void remove(const std::string& folder);

 private:
  const std::string file_;
  int descriptor_ = -1;
};

}  // namespace rnic::cli
