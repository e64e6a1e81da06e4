// The results of all points of a sweep in one table: sweep.json and sweep.csv.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/system/scenario.h"

namespace rnic::cli {

class SweepSummary {
 public:
  // `baselines` of the axes, where one varies at a time (SweepPoints).
  SweepSummary(const Scenario& scenario, std::vector<SweepColumn> columns, std::vector<nlohmann::json> baselines);

  // The record (sweep_record.h) of a point; its folder unless it is not kept.
  void add(std::size_t point, const std::string& folder, const nlohmann::ordered_json& record);

  nlohmann::ordered_json json(bool complete) const;
  std::string csv() const;
  // For people; empty unless an axis repeats the points.
  std::string table_of_means() const;
  // For people: where each axis limits the first column. Empty unless one axis varies at a time.
  std::string table_of_knees() const;

 private:
  using Json = nlohmann::ordered_json;
  struct Group {  // points that repeat one
    std::vector<std::size_t> rows;
  };

  // Of an axis of numbers, by the first column: from that value down, or up, the result is less than the best one of
  // the axis by more than a little. The values themselves still are good. Beyond them, these are named as what limits
  // the phase of the column's item, or the run, if the column is of none.
  struct Knee {
    std::size_t axis;
    double best;
    nlohmann::json limits_below, limits_above;  // null: it does not
    std::vector<std::string> limited_by;
  };
  // What an axis does to the first column.
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
