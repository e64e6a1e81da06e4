// The key "sweep" of a scenario: settings that take several values, and a run for each combination of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/overlay.h"
#include "model/system/scenario_value.h"

namespace rnic {

// A setting of the configuration tree and its values.
struct SweepAxis {
  std::string key, title;
  std::vector<nlohmann::json> values;
  std::vector<std::string> labels;  // of the values, in tables
};

// A column of the table beside the values: a number of a run's stats.json.
struct SweepColumn {
  std::string title, path;  // "stats.a.rnic.tcp_tx.retransmissions", "results.0.goodput_gbps"
};

// Points count from 0; the last axis varies fastest.
struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepColumn> columns;

  bool empty() const { return axes.empty(); }
  std::size_t points() const;
  // Which value of each axis.
  std::vector<std::size_t> indexes(std::size_t point) const;
  // They take precedence over the scenario's own settings.
  Overlay settings(std::size_t point) const;
  // "loss 1 %, SACK on"
  std::string text(std::size_t point) const;
};

// From the scenario's keys "sweep" and "columns". Throws ConfigError.
Sweep read_sweep(const ScenarioValue& scenario);

// The number at a dotted path of a run's statistics, a list's elements by their index; null if there is none. A record
// with a "value" and its unit counts as that value.
nlohmann::json value_at(const nlohmann::json& stats, const std::string& path);
// The path itself if it exists; otherwise the nearest path of a number.
std::string nearest_path(const nlohmann::json& stats, const std::string& path);

}  // namespace rnic
