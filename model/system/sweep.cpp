#include "model/system/sweep.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace rnic {
namespace {

constexpr std::size_t kMostPoints = 10'000;

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

SweepAxis axis(const ScenarioValue& v) {
  v.expect_keys({"key", "title", "values", "labels"});
  SweepAxis a;
  a.key = v.at("key").string();
  a.title = v.get("title", a.key);
  for (const ScenarioValue& value : v.at("values").elements()) {
    if (value.is_object() || value.is_list()) value.fail("is no value of a setting");
    a.values.push_back(value.json());
    a.labels.push_back(text_of(value.json()));
  }
  if (a.values.empty()) v.at("values").fail("is empty");
  if (!v.has("labels")) return a;
  a.labels.clear();
  for (const ScenarioValue& label : v.at("labels").elements()) a.labels.push_back(label.string());
  if (a.labels.size() != a.values.size()) v.at("labels").fail(fmt::format("must be {}", a.values.size()));
  return a;
}

}  // namespace

Sweep read_sweep(const ScenarioValue& scenario) {
  Sweep s;
  std::set<std::string> keys;
  for (const ScenarioValue& v : scenario.at("sweep").elements()) {
    s.axes.push_back(axis(v));
    if (!keys.insert(s.axes.back().key).second) v.at("key").fail("is named twice");
  }
  if (s.axes.empty()) scenario.at("sweep").fail("is empty");
  if (s.points() > kMostPoints) scenario.at("sweep").fail(fmt::format("has more than {} points", kMostPoints));
  if (!scenario.has("columns")) return s;
  for (const ScenarioValue& v : scenario.at("columns").elements()) {
    v.expect_keys({"title", "value"});
    const std::string path = v.at("value").string();
    s.columns.push_back({v.get("title", path), path});
  }
  return s;
}

std::size_t Sweep::points() const {
  return std::accumulate(axes.begin(), axes.end(), std::size_t{1}, [](std::size_t n, const SweepAxis& a) {
    return std::min(n * a.values.size(), kMostPoints + 1);
  });
}

std::vector<std::size_t> Sweep::indexes(std::size_t point) const {
  std::vector<std::size_t> list(axes.size());
  for (std::size_t i = axes.size(); i-- > 0; point /= axes[i].values.size()) list[i] = point % axes[i].values.size();
  return list;
}

Overlay Sweep::settings(std::size_t point) const {
  nlohmann::json values = nlohmann::json::object();
  const std::vector<std::size_t> at = indexes(point);
  for (std::size_t i = 0; i < axes.size(); ++i) values[axes[i].key] = axes[i].values[at[i]];
  return Overlay::from_json(values, "sweep");
}

std::string Sweep::text(std::size_t point) const {
  std::string text;
  const std::vector<std::size_t> at = indexes(point);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", axes[i].title, axes[i].labels[at[i]]);
  }
  return text;
}

nlohmann::json value_at(const nlohmann::json& stats, const std::string& path) {
  const nlohmann::json* at = &stats;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (at->is_array()) {
      const bool number = !name.empty() && name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos;
      if (!number || std::stoul(name) >= at->size()) return {};
      at = &(*at)[std::stoul(name)];
    } else {
      if (!at->is_object() || !at->contains(name)) return {};
      at = &(*at)[name];
    }
  }
  if (at->is_object() && at->contains("value")) at = &(*at)["value"];
  return at->is_number() ? *at : nlohmann::json();
}

}  // namespace rnic
