#include "model/system/sweep.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/common/cited.h"
#include "model/common/prng.h"
#include "model/config/nearest.h"
#include "model/system/key_reader.h"
#include "model/system/scenario_assignment.h"
#include "model/system/sweep_values.h"

namespace rnic {
namespace {

constexpr std::size_t kMostPoints = 10'000;

std::string text_of(const nlohmann::json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return cited(value.is_string() ? value.get<std::string>() : value.dump());
}

// An axis as written; a sample takes values of it.
struct AxisSource {
  SweepAxis axis;
  std::optional<SweepRange> interval;
};

bool is_tuple(const std::vector<std::string>& keys, const nlohmann::json& value) {
  return keys.size() > 1 && value.is_array();
}

// A setting has numbers and words; some values of a scenario are lists and objects.
void expect_value_of(const std::string& key, const ScenarioValue& v) {
  if ((v.is_object() || v.is_list()) && !is_scenario_path(key)) v.fail("is no value of a setting");
}

void expect_value_of(const std::vector<std::string>& keys, const ScenarioValue& v) {
  if (!is_tuple(keys, v.json())) {
    for (const std::string& key : keys) expect_value_of(key, v);
    return;
  }
  const std::vector<ScenarioValue> values = v.elements();
  if (values.size() != keys.size()) v.fail(fmt::format("must have {} values, as there are keys", keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) expect_value_of(keys[i], values[i]);
}

std::vector<std::string> keys_of(const ScenarioValue& v) {
  if (!v.is_list()) return {v.string()};
  std::vector<std::string> keys;
  for (const ScenarioValue& key : v.elements()) keys.push_back(key.string());
  if (keys.empty()) v.fail("is empty");
  return keys;
}

bool is_sample(const SweepPlan& plan) {
  return plan.mode == SweepMode::kRandom || plan.mode == SweepMode::kLatinHypercube;
}

AxisSource axis(const ScenarioValue& v, const SweepPlan& plan) {
  AxisSource source{expect_and_read<SweepAxis>(v), std::nullopt};
  SweepAxis& a = source.axis;
  a.keys = keys_of(v.at("key"));
  if (!v.has("title")) a.title = fmt::format("{}", fmt::join(a.keys, ", "));
  if (!v.has("mean")) a.mean = a.keys == std::vector<std::string>{"seed"};
  const ScenarioValue values = v.at("values");
  if (values.is_object()) {
    const SweepRange range = read_range(values);
    if (!range.is_interval()) a.values = values_of(range, kMostPoints);
    else if (is_sample(plan) && !a.mean) source.interval = range;
    else if (is_sample(plan))
      values.fail(
          "needs step, factor or per_decade: `mean` is over every value; with `mean` false an interval is sampled");
    else values.fail("needs step, factor or per_decade; an interval is for a sample (mode random or latin_hypercube)");
  } else {
    for (const ScenarioValue& value : values.elements()) {
      expect_value_of(a.keys, value);
      a.values.push_back(value.json());
    }
    if (a.values.empty()) values.fail("is empty");
  }
  if (v.has("baseline")) {
    if (plan.mode != SweepMode::kOneAtATime) v.at("baseline").fail("is for the mode one_at_a_time");
    if (a.mean) v.at("baseline").fail("is not for an axis that points are repeated over");
    expect_value_of(a.keys, v.at("baseline"));
    a.baseline = v.at("baseline").json();
  }
  for (const nlohmann::json& value : a.values) a.labels.push_back(text_of(value));
  if (!v.has("labels")) return source;
  if (!values.is_list() || (is_sample(plan) && !a.mean)) v.at("labels").fail("are for a list of values");
  a.labels.clear();
  for (const ScenarioValue& label : v.at("labels").elements()) a.labels.push_back(label.string());
  if (a.labels.size() != a.values.size()) v.at("labels").fail(fmt::format("must be {}", a.values.size()));
  return source;
}

// The axis with a value of its own for each point of the sample.
void draw(AxisSource& source, const SweepPlan& plan, Prng& random) {
  std::vector<nlohmann::json> drawn;
  for (const double share : shares(plan.points, plan.mode == SweepMode::kLatinHypercube, random)) {
    drawn.push_back(source.interval ? sample(*source.interval, share) : sample(source.axis.values, share));
  }
  source.axis.values = std::move(drawn);
  source.axis.labels.clear();
  for (const nlohmann::json& value : source.axis.values) source.axis.labels.push_back(text_of(value));
}

using Rows = std::vector<std::vector<std::size_t>>;

// Each row with each value of the axis; the axis varies fastest.
Rows times(const Rows& rows, std::size_t axis, std::size_t values) {
  Rows product;
  for (const std::vector<std::size_t>& row : rows) {
    for (std::size_t i = 0; i < values; ++i) {
      product.push_back(row);
      product.back()[axis] = i;
    }
  }
  return product;
}

// By mode, without the axes that points are repeated over. One at a time, the first is the baseline.
Rows rows_of(const Sweep& s) {
  Rows rows(1, std::vector<std::size_t>(s.axes.size(), Sweep::kBaseline));
  if (is_sample(s.plan)) {
    rows.clear();
    for (std::size_t i = 0; i < s.plan.points; ++i) rows.emplace_back(s.axes.size(), i);
  }
  for (std::size_t a = 0; a < s.axes.size(); ++a) {
    if (s.plan.mode == SweepMode::kProduct) rows = times(rows, a, s.axes[a].values.size());
    if (s.plan.mode != SweepMode::kOneAtATime || s.axes[a].mean) continue;
    for (std::size_t i = 0; i < s.axes[a].values.size(); ++i) {
      rows.push_back(rows.front());
      rows.back()[a] = i;
    }
  }
  if (s.plan.mode == SweepMode::kProduct) return rows;
  for (std::size_t a = 0; a < s.axes.size(); ++a) {
    if (s.axes[a].mean) rows = times(rows, a, s.axes[a].values.size());
  }
  return rows;
}

// Before any of them is created.
std::size_t count_points(const Sweep& s) {
  const auto multiply = [](std::size_t n, std::size_t m) { return std::min(n * m, kMostPoints + 1); };
  std::size_t points = is_sample(s.plan) ? s.plan.points : 1;
  for (const SweepAxis& a : s.axes) {
    if (s.plan.mode == SweepMode::kOneAtATime && !a.mean) points += a.values.size();
  }
  for (const SweepAxis& a : s.axes) {
    if (s.plan.mode == SweepMode::kProduct || a.mean) points = multiply(points, a.values.size());
  }
  return points;
}

void read_columns(const ScenarioValue& scenario, Sweep& s) {
  if (!scenario.has("columns")) return;
  for (const ScenarioValue& v : scenario.at("columns").elements()) {
    s.columns.push_back(expect_and_read<SweepColumn>(v));
    if (!v.has("title")) s.columns.back().title = s.columns.back().path;
  }
}

const nlohmann::ordered_json* element(const nlohmann::ordered_json& list, std::string_view index) {
  const bool number =
      !index.empty() && index.size() < 9 && index.find_first_not_of("0123456789") == std::string_view::npos;
  const std::size_t n = number ? std::stoul(std::string(index)) : list.size();
  return n < list.size() ? &list[n] : nullptr;
}

// The value at the path. A name may contain dots (latency_ns.p99.9).
const nlohmann::ordered_json* find(const nlohmann::ordered_json& at, std::string_view path) {
  for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string_view name = path.substr(0, end);
    const nlohmann::ordered_json* next = nullptr;
    if (at.is_array()) next = element(at, name);
    else if (at.is_object() && at.contains(name)) next = &at[std::string(name)];
    if (next != nullptr && end != std::string_view::npos) next = find(*next, path.substr(end + 1));
    if (next != nullptr) return next;
    if (end == std::string_view::npos) return nullptr;
  }
}

// Of all numbers.
void add_paths(const nlohmann::ordered_json& at, const std::string& prefix, std::vector<std::string>& paths) {
  const auto below = [&](const std::string& name, const nlohmann::ordered_json& value) {
    add_paths(value, prefix.empty() ? name : prefix + '.' + name, paths);
  };
  if (at.is_number() || (at.is_object() && at.contains("value"))) return paths.push_back(prefix);
  if (at.is_object()) {
    for (const auto& [name, value] : at.items()) below(name, value);
  }
  for (std::size_t i = 0; at.is_array() && i < at.size(); ++i) below(std::to_string(i), at[i]);
}

}  // namespace

Sweep read_sweep(const ScenarioValue& scenario) {
  Sweep s;
  const ScenarioValue sweep = scenario.at("sweep");
  const bool is_plain = sweep.is_list();
  if (!is_plain) {
    s.plan = expect_and_read<SweepPlan>(sweep);
    if (is_sample(s.plan)) sweep.at("points");
    for (const char* key : {"points", "seed"}) {
      if (sweep.has(key) && !is_sample(s.plan)) sweep.at(key).fail("is for a sample: mode random or latin_hypercube");
    }
  }
  const ScenarioValue axes = is_plain ? sweep : sweep.at("axes");
  std::set<std::string> keys;
  std::vector<AxisSource> sources;
  for (const ScenarioValue& v : axes.elements()) {
    sources.push_back(axis(v, s.plan));
    for (const std::string& key : sources.back().axis.keys) {
      if (!keys.insert(key).second) v.at("key").fail("is named twice");
    }
  }
  if (sources.empty()) axes.fail("is empty");
  Prng random(mix64(s.plan.seed));
  for (AxisSource& source : sources) {
    if (is_sample(s.plan) && !source.axis.mean) draw(source, s.plan, random);
    s.axes.push_back(std::move(source.axis));
  }
  if (count_points(s) > kMostPoints) sweep.fail(fmt::format("has more than {} points", kMostPoints));
  s.rows = rows_of(s);
  read_columns(scenario, s);
  return s;
}

nlohmann::json Sweep::value(std::size_t point, std::size_t axis) const {
  const std::size_t index = rows.at(point)[axis];
  return index != kBaseline ? axes[axis].values[index] : axes[axis].baseline.value_or(nullptr);
}

nlohmann::json Sweep::value_of_key(std::size_t point, std::size_t axis, std::size_t key) const {
  const nlohmann::json whole = value(point, axis);
  return is_tuple(axes[axis].keys, whole) ? whole.at(key) : whole;
}

Overlay Sweep::settings(std::size_t point) const {
  Overlay overlay;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (rows.at(point)[a] == kBaseline && !axes[a].baseline) continue;
    for (std::size_t k = 0; k < axes[a].keys.size(); ++k) {
      overlay.put(axes[a].keys[k], {value_of_key(point, a, k), false, "sweep"});
    }
  }
  return overlay;
}

std::string Sweep::text(std::size_t point) const {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::size_t index = rows.at(point)[a];
    if (index == kBaseline) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axes[a].title, axes[a].labels[index]);
  }
  const bool at_baseline =
      plan.mode == SweepMode::kOneAtATime && std::all_of(axes.begin(), axes.end(), [&](const SweepAxis& a) {
        return a.mean || rows[point][static_cast<std::size_t>(&a - axes.data())] == kBaseline;
      });
  if (!at_baseline) return text;
  return text.empty() ? "baseline" : "baseline, " + text;
}

nlohmann::ordered_json value_at(const nlohmann::ordered_json& stats, const std::string& path) {
  const nlohmann::ordered_json* at = find(stats, path);
  if (at == nullptr) return {};
  if (at->is_object() && at->contains("value")) at = &(*at)["value"];
  return at->is_number() ? *at : nlohmann::ordered_json();
}

std::string nearest_path(const nlohmann::ordered_json& stats, const std::string& path) {
  if (find(stats, path) != nullptr) return path;
  std::vector<std::string> paths;
  add_paths(stats, "", paths);
  const std::string* whole = nullptr;  // the shortest of those that it is the begin of
  for (const std::string& p : paths) {
    if (p.rfind(path, 0) == 0 && (whole == nullptr || p.size() < whole->size())) whole = &p;
  }
  if (whole != nullptr) return *whole;
  return paths.empty() ? "" : nearest(path, paths);
}

}  // namespace rnic
