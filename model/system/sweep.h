// The key "sweep" of a scenario: settings that take several values, and the points at which the scenario is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/overlay.h"
#include "model/system/scenario_value.h"

namespace rnic {

// Settings that have the same value at every point, and the values that they take.
struct SweepAxis {
  std::vector<std::string> keys;  // dotted paths; if there are several, each has the value, or its own one of a list
  std::string title;
  std::vector<nlohmann::json> values;      // of a sample: one for each of its points
  std::vector<std::string> labels;         // of the values, in tables
  std::optional<nlohmann::json> baseline;  // while another axis varies; none: the scenario's value
  bool mean = false;                       // its values repeat a point, and the results are given as a mean over them
};

// A column of the table in addition to the values: a number of a run's stats.json.
struct SweepColumn {
  std::string title, path;  // "stats.a.rnic.tcp_tx.retransmissions", "results.0.goodput_gbps"
};

enum class SweepMode : std::uint8_t { kProduct, kOneAtATime, kRandom, kLatinHypercube };

// How the axes make points.
struct SweepPlan {
  SweepMode mode = SweepMode::kProduct;
  unsigned points = 0;     // of a sample
  std::uint64_t seed = 1;  // of a sample
};

// Points count from 0.
struct Sweep {
  static constexpr std::size_t kBaseline = SIZE_MAX;  // in place of the index of a value

  SweepPlan plan;
  std::vector<SweepAxis> axes;
  std::vector<SweepColumn> columns;
  std::vector<std::vector<std::size_t>> rows;  // which value of each axis, by point

  bool empty() const { return axes.empty(); }
  std::size_t points() const { return rows.size(); }
  const std::vector<std::size_t>& indexes(std::size_t point) const { return rows.at(point); }
  // The axis's value there; null for a baseline that the scenario defines.
  nlohmann::json value(std::size_t point, std::size_t axis) const;
  // The value of that key of the axis there.
  nlohmann::json value_of_key(std::size_t point, std::size_t axis, std::size_t key) const;
  // By their paths; they take precedence over the scenario's own settings.
  Overlay settings(std::size_t point) const;
  // "loss 1 %, SACK on"; if one axis varies at a time, only that, or "baseline".
  std::string text(std::size_t point) const;
};

// From the scenario's keys "sweep" and "columns". Throws ConfigError.
Sweep read_sweep(const ScenarioValue& scenario);

// The number at a dotted path of a run's statistics, a list's elements by their index; null if there is none. A record
// with a "value" and its unit counts as that value.
nlohmann::ordered_json value_at(const nlohmann::ordered_json& stats, const std::string& path);
// The path itself if it exists; otherwise the closest path of a number.
std::string nearest_path(const nlohmann::ordered_json& stats, const std::string& path);

}  // namespace rnic
