// The two sides of a comparison: folders of runs, databases, or event logs.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/diff/database_events.h"
#include "model/diff/events.h"

namespace rnic::diff {

struct RunInput {
  std::string name;                             // as it was given
  std::string folder;                           // of stats.json; empty without one
  std::optional<nlohmann::ordered_json> stats;  // stats.json
  std::unique_ptr<Events> events;               // nullptr: a folder without a database
  std::vector<Fact> facts;                      // of the database

  // A fact of the run, of stats.json or else of the database; empty if neither has it.
  std::string fact(const std::string& key) const;
  // True if it was ended from outside, so that what is missing might have come.
  bool is_cut() const { return fact("end") == "interrupted" || fact("end") == "time limit"; }
};

struct RunInputs {
  Vocabulary vocabulary;
  RunInput a, b;
};

// ConfigError for what cannot be read or compared: no run, a sweep, a log against a database, other nodes.
std::unique_ptr<RunInputs> open_runs(const std::string& a, const std::string& b);

}  // namespace rnic::diff
