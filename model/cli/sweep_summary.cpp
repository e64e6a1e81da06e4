#include "model/cli/sweep_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "model/cli/confidence.h"
#include "model/cli/version.h"
#include "model/system/key_reader.h"

namespace rnic::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGood = 0.95;  // of the best result; less is beyond a knee

// Numbers of an item's results that have means and columns in sweep.csv.
constexpr const char* kMeasured[] = {"goodput_gbps", "rate_mops", "p50_ns", "p99_ns"};
// Copied unchanged from a record.
constexpr const char* kOfRecord[] = {"id", "end", "cpu_s", "results", "checks", "bottleneck", "error"};

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& f : fields) line += (line.empty() ? "" : ",") + csv_field(f);
  return line + '\n';
}

std::string mode_name(SweepMode mode) {
  for (const auto& named : keys::kSweepModes) {
    if (named.value == mode) return std::string(named.name);
  }
  return "";
}

Json mean_json(const Mean& mean) {
  if (mean.count == 0) return nullptr;
  return {{"mean", mean.mean}, {"ci95", mean.ci95 ? Json(*mean.ci95) : Json()}, {"count", mean.count}};
}

std::string mean_text(const Json& mean) {
  if (mean.is_null()) return "-";
  return number_text(mean["mean"]) + (mean["ci95"].is_null() ? "" : " ± " + number_text(mean["ci95"]));
}

// Each name once, without empty ones.
void add_name(const std::string& name, std::vector<std::string>& names) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Counts each UTF-8 character as one column.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += (i == 0 ? "" : "  ") + std::string(widths[i] - width_of(line[i]), ' ') + line[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string number_text(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  constexpr double kMostWhole = 1e15;
  const double v = value.get<double>();
  return std::abs(v) < kMostWhole && v == std::trunc(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

SweepSummary::SweepSummary(const Scenario& scenario, std::vector<SweepColumn> columns,
                           std::vector<nlohmann::json> baselines)
    : scenario_(scenario), sweep_(scenario.sweep), columns_(std::move(columns)), baselines_(std::move(baselines)) {}

bool SweepSummary::repeats() const {
  return std::any_of(sweep_.axes.begin(), sweep_.axes.end(), [](const SweepAxis& a) { return a.mean; });
}

// By path, without axes at the scenario's own value.
Json SweepSummary::settings(std::size_t point, bool with_repeats) const {
  Json settings = Json::object();
  for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
    const SweepAxis& axis = sweep_.axes[a];
    if (axis.mean && !with_repeats) continue;
    if (sweep_.indexes(point)[a] == Sweep::kBaseline && !axis.baseline) continue;
    for (std::size_t k = 0; k < axis.keys.size(); ++k) settings[axis.keys[k]] = sweep_.value_of_key(point, a, k);
  }
  return settings;
}

void SweepSummary::add(std::size_t point, const std::string& folder, const Json& record) {
  Json row{{"point", point}};
  row["folder"] = folder.empty() ? Json() : Json(folder);
  row["exit_code"] = record["exit_code"];
  if (record.contains("digest")) row["digest"] = record["digest"];
  row["settings"] = settings(point, true);
  if (sweep_.plan.mode == SweepMode::kOneAtATime) {
    row["axis"] = nullptr;  // the baseline
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
      if (!sweep_.axes[a].mean && sweep_.indexes(point)[a] != Sweep::kBaseline) row["axis"] = a;
    }
  }
  Json& values = row["columns"] = Json::object();
  for (std::size_t i = 0; i < std::min(columns_.size(), record["columns"].size()); ++i) {
    values[columns_[i].title] = record["columns"][i][1];
  }
  for (const char* key : kOfRecord) {
    if (record.contains(key)) row[key] = record[key];
  }
  points_.push_back(point);
  rows_.push_back(std::move(row));
}

Json SweepSummary::axes() const {
  Json list = Json::array();
  for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
    const SweepAxis& axis = sweep_.axes[a];
    Json j{{"keys", axis.keys}, {"title", axis.title}, {"values", axis.values}, {"labels", axis.labels}};
    if (!baselines_.empty() && !axis.mean) j["baseline"] = baselines_[a];
    j["mean"] = axis.mean;
    list.push_back(std::move(j));
  }
  return list;
}

std::vector<SweepSummary::Group> SweepSummary::groups() const {
  std::vector<Group> groups;
  std::map<std::vector<std::size_t>, std::size_t> known;
  for (std::size_t r = 0; r < points_.size(); ++r) {
    std::vector<std::size_t> key = sweep_.indexes(points_[r]);
    for (std::size_t a = 0; a < key.size(); ++a) {
      if (sweep_.axes[a].mean) key[a] = 0;
    }
    const auto [at, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].rows.push_back(r);
  }
  return groups;
}

// Only of runs that reached their end, whether or not their checks passed.
Json SweepSummary::mean_of_rows(const Group& group, const Json::json_pointer& at) const {
  std::vector<double> values;
  for (const std::size_t r : group.rows) {
    const bool has = rows_[r].value("end", "") == "done" && rows_[r].contains(at) && rows_[r][at].is_number();
    if (has) values.push_back(rows_[r][at].get<double>());
  }
  return mean_json(mean_of(values));
}

Json SweepSummary::mean_of_group(const Group& group) const {
  const Json& first = rows_[group.rows.front()];
  Json j{{"points", Json::array()}, {"settings", settings(points_[group.rows.front()], false)}};
  for (const std::size_t r : group.rows) j["points"].push_back(points_[r]);
  j["columns"] = Json::object();
  for (const SweepColumn& c : columns_) {
    j["columns"][c.title] = mean_of_rows(group, Json::json_pointer("/columns") / c.title);
  }
  j["results"] = Json::array();
  for (std::size_t i = 0; first.contains("results") && i < first["results"].size(); ++i) {
    Json item{{"name", first["results"][i]["name"]}};
    for (const char* key : kMeasured)
      item[key] = mean_of_rows(group, Json::json_pointer(fmt::format("/results/{}/{}", i, key)));
    j["results"].push_back(std::move(item));
  }
  return j;
}

Json SweepSummary::json(bool complete) const {
  Json j{{"scenario", scenario_.name}, {"complete", complete}};
  j["version"] = version();
  j["mode"] = mode_name(sweep_.plan.mode);
  j["axes"] = axes();
  j["columns"] = Json::array();
  for (const SweepColumn& c : columns_) j["columns"].push_back({{"title", c.title}, {"path", c.path}});
  j["points"] = rows_;
  if (sweep_.plan.mode == SweepMode::kOneAtATime) j["knees"] = Json::array();
  for (const Knee& k : knees()) {
    j["knees"].push_back({{"axis", k.axis},
                          {"column", columns_.front().title},
                          {"best", k.best},
                          {"limits_below", k.limits_below},
                          {"limits_above", k.limits_above},
                          {"limited_by", k.limited_by}});
  }
  if (!repeats()) return j;
  j["means"] = Json::array();
  for (const Group& group : groups()) j["means"].push_back(mean_of_group(group));
  return j;
}

// The limiter at a point: of the first column's item, or of the run.
std::string SweepSummary::limiter(const Json& row) const {
  std::istringstream path(columns_.front().path);
  std::string head, index;
  std::getline(path, head, '.');
  std::getline(path, index, '.');
  const bool of_item = head == "results" && !index.empty() &&
                       std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!of_item) return row.contains("bottleneck") ? row["bottleneck"].value("name", "") : "";
  const Json::json_pointer at(fmt::format("/results/{}/limited_by", index));
  return row.contains(at) ? row[at].get<std::string>() : "";
}

std::vector<SweepSummary::Knee> SweepSummary::knees() const {
  if (sweep_.plan.mode != SweepMode::kOneAtATime || columns_.empty()) return {};
  std::vector<std::map<double, Measured>> curves(sweep_.axes.size());  // by value
  for (const Group& group : groups()) {
    const Json mean = mean_of_rows(group, Json::json_pointer("/columns") / columns_.front().title);
    if (mean.is_null()) continue;
    const Json& varies = rows_[group.rows.front()]["axis"];
    for (std::size_t a = 0; a < curves.size(); ++a) {
      const bool is_baseline = varies.is_null();
      if (sweep_.axes[a].mean || (!is_baseline && varies != a)) continue;
      const nlohmann::json value = is_baseline ? (a < baselines_.size() ? baselines_[a] : nullptr)
                                               : sweep_.value(points_[group.rows.front()], a);
      if (!value.is_number()) continue;
      Measured& there =
          curves[a].try_emplace(value.get<double>(), Measured{mean["mean"].get<double>(), {}}).first->second;
      for (const std::size_t r : group.rows) add_name(limiter(rows_[r]), there.limited_by);
    }
  }
  std::vector<Knee> knees;
  for (std::size_t a = 0; a < curves.size(); ++a) {
    if (curves[a].size() < 2) continue;
    const auto less = [](const auto& x, const auto& y) { return x.second.result < y.second.result; };
    Knee knee{a, std::max_element(curves[a].begin(), curves[a].end(), less)->second.result, {}, {}, {}};
    const auto is_good = [&knee](const auto& point) { return point.second.result >= kGood * knee.best; };
    const auto first = std::find_if(curves[a].begin(), curves[a].end(), is_good);
    const auto last = std::find_if(curves[a].rbegin(), curves[a].rend(), is_good);
    if (first != curves[a].begin() && first != curves[a].end()) knee.limits_below = first->first;
    if (last != curves[a].rbegin() && last != curves[a].rend()) knee.limits_above = last->first;
    for (const auto& [value, there] : curves[a]) {
      const bool below = !knee.limits_below.is_null() && value < knee.limits_below.get<double>();
      const bool above = !knee.limits_above.is_null() && value > knee.limits_above.get<double>();
      for (const std::string& name : there.limited_by) {
        if (below || above) add_name(name, knee.limited_by);
      }
    }
    knees.push_back(std::move(knee));
  }
  return knees;
}

std::string SweepSummary::table_of_knees() const {
  std::vector<std::vector<std::string>> lines;
  for (const Knee& k : knees()) {
    std::string text;
    if (!k.limits_below.is_null()) text = "limits below " + number_text(k.limits_below);
    if (!k.limits_above.is_null()) {
      text += (text.empty() ? "limits above " : ", and above ") + number_text(k.limits_above);
    }
    if (!k.limited_by.empty()) text += fmt::format(" ({})", fmt::join(k.limited_by, ", "));
    lines.push_back({sweep_.axes[k.axis].title, number_text(k.best), text.empty() ? "does not limit" : text});
  }
  if (lines.empty()) return "";
  return fmt::format("knees, where {} is {:.0f} % of the best of an axis:\n", columns_.front().title, 100 * kGood) +
         aligned(lines);
}

std::string SweepSummary::csv() const {
  std::vector<std::string> head{"point", "exit_code"};
  for (const SweepAxis& a : sweep_.axes) head.push_back(a.title);
  for (const SweepColumn& c : columns_) head.push_back(c.title);
  std::vector<std::string> items;  // of the first point with results
  for (const Json& row : rows_) {
    if (!items.empty() || !row.contains("results")) continue;
    for (const Json& item : row["results"]) items.push_back(item["name"].get<std::string>());
  }
  for (const std::string& item : items) {
    for (const char* key : kMeasured) head.push_back(fmt::format("{} {}", item, key));
  }
  for (const char* key : {"bottleneck", "error"}) head.emplace_back(key);
  std::string text = csv_line(head);
  for (std::size_t r = 0; r < points_.size(); ++r) {
    const Json& row = rows_[r];
    std::vector<std::string> line{std::to_string(points_[r]), cell_text(row["exit_code"])};
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a) line.push_back(cell_text(sweep_.value(points_[r], a)));
    for (const SweepColumn& c : columns_) {
      line.push_back(row["columns"].contains(c.title) ? cell_text(row["columns"][c.title]) : "");
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool has = row.contains("results") && i < row["results"].size();
      for (const char* key : kMeasured) line.push_back(has ? cell_text(row["results"][i][key]) : "");
    }
    line.push_back(row.contains("bottleneck") ? row["bottleneck"].value("name", "") : "");
    line.push_back(row.contains("error") ? cell_text(row["error"]) : "");
    text += csv_line(line);
  }
  return text;
}

std::string SweepSummary::table_of_means() const {
  if (!repeats()) return "";
  std::vector<std::vector<std::string>> lines(1);
  for (const SweepAxis& a : sweep_.axes) {
    if (!a.mean) lines[0].push_back(a.title);
  }
  for (const SweepColumn& c : columns_) lines[0].push_back(c.title);
  lines[0].emplace_back("points");
  for (const Group& group : groups()) {
    const std::size_t point = points_[group.rows.front()];
    std::vector<std::string> line;
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a) {
      const std::size_t at = sweep_.indexes(point)[a];
      if (!sweep_.axes[a].mean) line.push_back(at == Sweep::kBaseline ? "" : sweep_.axes[a].labels[at]);
    }
    const Json mean = mean_of_group(group);
    for (const SweepColumn& c : columns_) line.push_back(mean_text(mean["columns"][c.title]));
    line.push_back(std::to_string(group.rows.size()));
    lines.push_back(std::move(line));
  }
  return "means, with 95 % confidence intervals:\n" + aligned(lines);
}

}  // namespace rnic::cli
