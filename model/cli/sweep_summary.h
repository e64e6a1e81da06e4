// The results of all points of a sweep in one table: sweep.json and sweep.csv.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/system/scenario.h"

namespace rnic::cli {

class SweepSummary {
 public:
  // `baselines` are of the axes, if one varies at a time (SweepPoints).
  SweepSummary(const Scenario& scenario, std::vector<SweepColumn> columns, std::vector<nlohmann::json> baselines);

  // Adds a point's record (sweep_record.h), and its folder unless it is not kept.
  void add(std::size_t point, const std::string& folder, const nlohmann::ordered_json& record);

  nlohmann::ordered_json json(bool complete) const;
  std::string csv() const;
  // For people; empty unless an axis repeats the points.
  std::string table_of_means() const;
  // For people: where each axis limits the first column. Empty unless one axis varies at a time.
  std::string table_of_knees() const;

 private:
  using Json = nlohmann::ordered_json;
  struct Group {  // repeats of one point
    std::vector<std::size_t> rows;
  };

  // For an axis of numbers. Below `limits_below` or above `limits_above` the first column falls short of the axis's
  // best result by more than a margin; at these values it is still good. `limited_by` names the limiters beyond them:
  // of the phase of the column's item, or of the run if the column is not an item's.
  struct Knee {
    std::size_t axis;
    double best;
    nlohmann::json limits_below, limits_above;  // null: it does not limit
    std::vector<std::string> limited_by;
  };
  // The first column at one value of an axis.
  struct Measured {
    double result;
    std::vector<std::string> limited_by;
  };

  Json axes() const;
  std::vector<Knee> knees() const;
  std::string limiter(const Json& row) const;
  Json settings(std::size_t point, bool with_repeats) const;
  std::vector<Group> groups() const;
  Json mean_of_group(const Group& group) const;
  Json mean_of_rows(const Group& group, const Json::json_pointer& at) const;
  bool repeats() const;

  const Scenario& scenario_;
  const Sweep& sweep_;
  const std::vector<SweepColumn> columns_;
  const std::vector<nlohmann::json> baselines_;
  std::vector<std::size_t> points_;  // of the rows
  Json rows_ = Json::array();
};

// "-" for null.
std::string number_text(const nlohmann::json& value);

}  // namespace rnic::cli
