#include "model/system/sweep.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "model/config/nearest.h"
#include "model/system/key_reader.h"

namespace rnic {
namespace {

constexpr std::size_t kMostPoints = 10'000;

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

SweepAxis axis(const ScenarioValue& v) {
  auto a = expect_and_read<SweepAxis>(v);
  if (!v.has("title")) a.title = a.key;
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

const nlohmann::json* element(const nlohmann::json& list, std::string_view index) {
  const bool number =
      !index.empty() && index.size() < 9 && index.find_first_not_of("0123456789") == std::string_view::npos;
  const std::size_t n = number ? std::stoul(std::string(index)) : list.size();
  return n < list.size() ? &list[n] : nullptr;
}

// What the path leads to. A name may have dots of its own (latency_ns.p99.9).
const nlohmann::json* find(const nlohmann::json& at, std::string_view path) {
  for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string_view name = path.substr(0, end);
    const nlohmann::json* next = nullptr;
    if (at.is_array()) next = element(at, name);
    else if (at.is_object() && at.contains(name)) next = &at[std::string(name)];
    if (next != nullptr && end != std::string_view::npos) next = find(*next, path.substr(end + 1));
    if (next != nullptr) return next;
    if (end == std::string_view::npos) return nullptr;
  }
}

// Of all numbers.
void add_paths(const nlohmann::json& at, const std::string& prefix, std::vector<std::string>& paths) {
  const auto below = [&](const std::string& name, const nlohmann::json& value) {
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
  std::set<std::string> keys;
  for (const ScenarioValue& v : scenario.at("sweep").elements()) {
    s.axes.push_back(axis(v));
    if (!keys.insert(s.axes.back().key).second) v.at("key").fail("is named twice");
  }
  if (s.axes.empty()) scenario.at("sweep").fail("is empty");
  if (s.points() > kMostPoints) scenario.at("sweep").fail(fmt::format("has more than {} points", kMostPoints));
  if (!scenario.has("columns")) return s;
  for (const ScenarioValue& v : scenario.at("columns").elements()) {
    s.columns.push_back(expect_and_read<SweepColumn>(v));
    if (!v.has("title")) s.columns.back().title = s.columns.back().path;
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
  const nlohmann::json* at = find(stats, path);
  if (at == nullptr) return {};
  if (at->is_object() && at->contains("value")) at = &(*at)["value"];
  return at->is_number() ? *at : nlohmann::json();
}

std::string nearest_path(const nlohmann::json& stats, const std::string& path) {
  if (find(stats, path) != nullptr) return path;
  std::vector<std::string> paths;
  add_paths(stats, "", paths);
  return paths.empty() ? "" : nearest(path, paths);
}

}  // namespace rnic
