#include "model/report/series_columns.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rnic::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 480;
constexpr int kDigits = 4;  // as many as the page writes

// The nearest number of so many significant digits, as an integer where it is one.
ordered_json rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int decimals = kDigits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  // A power of ten below 1 is no exact double, but its inverse is one.
  const double scale = std::pow(10.0, std::abs(decimals));
  const double result = decimals >= 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
  if (result == std::floor(result) && std::abs(result) < 1e15) return static_cast<std::int64_t>(result);
  return result;
}

// The mean of a column's known values in rows [begin, end); null without any.
ordered_json mean_of(const ordered_json& rows, std::size_t column, std::size_t begin, std::size_t end) {
  double sum = 0;
  std::size_t known = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const ordered_json& value = rows[i][column];
    if (value.is_null()) continue;
    sum += value.get<double>();
    ++known;
  }
  return known == 0 ? ordered_json() : rounded(sum / static_cast<double>(known));
}

ordered_json values_of(const ordered_json& rows, std::size_t column, std::size_t every) {
  ordered_json values = ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); i += every) {
    values.push_back(mean_of(rows, column, i, std::min(i + every, rows.size())));
  }
  const bool constant = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  return constant && !values.empty() && values[0].is_number() ? values[0] : values;
}

}  // namespace

ordered_json series_columns(const ordered_json& series) {
  const ordered_json& rows = series["rows"];
  const ordered_json& times = series["time_ps"];
  const std::size_t every = std::max<std::size_t>(1, (rows.size() + kMostRows - 1) / kMostRows);
  ordered_json result;
  for (const char* key : {"interval_ps", "warmup_ps"}) {
    if (series.contains(key)) result[key] = series[key];
  }
  result["rows"] = rows.size();
  result["every"] = every;
  result["time_ps"] = ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); i += every) {
    result["time_ps"].push_back(times[std::min(i + every, rows.size()) - 1]);
  }
  result["columns"] = ordered_json::array();
  for (std::size_t c = 0; c < series["columns"].size(); ++c) {
    ordered_json column = series["columns"][c];
    column["values"] = values_of(rows, c, every);
    result["columns"].push_back(std::move(column));
  }
  return result;
}

}  // namespace rnic::report
