// What a sweep keeps of a point's run, and the file that it is appended to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/system/sweep.h"

namespace rnic::cli {

// JSON of what programs said, which need not be UTF-8.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// The run came to an end of its own, and would come to the same again.
bool is_finished(int exit_code);

// Of the run in that folder: "id", "exit_code", "end", "digest", "columns" as pairs of path and value ("nearest"
// has what was meant by a path that does not exist), "results" of each item, "checks", "bottleneck" where stats.json
// has one, and "error", the reason of an exit code that is not 0. `report` is what the run said.
nlohmann::ordered_json record_of(const std::string& id, int exit_code, const std::string& folder,
                                 const std::string& report, const std::vector<SweepColumn>& columns);
// One that stands alone in a file; nothing if it is none, or not whole.
std::optional<nlohmann::ordered_json> read_record(const std::string& file);

// Records as lines of JSON, one for each point that has run. It survives who writes it: a line that was cut off is no
// record. One that nobody can have written is an error. Several processes of a sweep have a file each in the same
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

  // Of all files in the folder. Of several records of a point a finished one counts, otherwise the last. ConfigError
  // with file, line and path of what is no record.
  static Records read(const std::string& folder);
  // ConfigError if a process has one of them open.
  static void remove(const std::string& folder);

 private:
  const std::string file_;
  int descriptor_ = -1;
};

}  // namespace rnic::cli
