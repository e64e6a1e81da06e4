// Settings and figures that differ between two runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/diff/run_input.h"

namespace rnic::diff {

struct Setting {
  std::string name, a, b;          // "" of a run that does not have it
  std::vector<std::string> nodes;  // where they differ; empty: of the run
};
// Settings of stats.json, or of the databases if one run has none; with the scenario and what it assigns.
std::vector<Setting> settings_that_differ(const RunInput& a, const RunInput& b);

// Two values of the same meaning, null where a run has none.
struct Figure {
  std::string name, unit;
  nlohmann::ordered_json a, b;
  std::optional<double> change;  // (b - a) / a; none for text and for an a of 0
};

// Results, checks and bottleneck that differ, in the order of stats.json.
std::vector<Figure> results_that_differ(const RunInput& a, const RunInput& b);
// Parts of the median request of each kind of work, in ns: of the requests that stats.json names, by breakdown.tsv.
std::vector<Figure> parts_that_differ(const RunInput& a, const RunInput& b);
// Counters, the largest relative change first.
std::vector<Figure> counters_that_differ(const RunInput& a, const RunInput& b);

}  // namespace rnic::diff
