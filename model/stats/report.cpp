#include "model/stats/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rnic {
namespace {

using nlohmann::ordered_json;

// The figures of one source by name; a single value has the name "value".
using Figures = std::vector<std::pair<const char*, ordered_json>>;

Figures figures(const StatsRegistry::Entry& e, const std::uint64_t* counter) {
  return {{"value", *counter - e.counted_before}};
}

Figures figures(const StatsRegistry::Entry&, const HighWater* most) { return {{"value", std::uint64_t{*most}}}; }

// JSON has no infinity; a rate over an empty time has no value.
Figures figures(double value) { return {{"value", std::isfinite(value) ? ordered_json(value) : ordered_json()}}; }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Derived& derived) { return figures(derived()); }

double since(const StatsRegistry::Sum& sum) { return sum.value() - sum.before; }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Sum& sum) { return figures(since(sum)); }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Ratio& ratio) {
  const double whole = since(ratio.whole);
  return figures(whole == 0 ? 0 : since(ratio.part) / whole);
}

Figures figures(const Histogram* h) {
  const std::vector<std::uint64_t> p = h->percentiles({500, 900, 990, 999});
  return {{"count", h->count()}, {"min", h->min()}, {"mean", h->mean()}, {"p50", p[0]},
          {"p90", p[1]},         {"p99", p[2]},     {"p99.9", p[3]},     {"max", h->max()}};
}

Figures figures(const StatsRegistry::Entry& e, const Histogram* h) {
  if (!e.recorded_before) return figures(h);
  const Histogram since = h->since(*e.recorded_before);
  return figures(&since);
}

Figures figures_of(const StatsRegistry::Entry& e) {
  return std::visit([&](const auto& s) { return figures(e, s); }, e.source);
}

}  // namespace

// Paths are unique and come group by group, so lookups are only needed when the group changes. Objects reserve their
// room up front, since growing copies their members instead of moving them.
ordered_json to_json(const StatsRegistry& registry) {
  constexpr std::size_t kRoom = 64;
  using Object = ordered_json::object_t;
  ordered_json tree = ordered_json::object();
  std::string_view group;
  Object* node = tree.get_ptr<Object*>();
  for (const StatsRegistry::Entry& e : registry.entries()) {
    const std::size_t end = e.path.rfind('.');
    const std::string_view path = std::string_view(e.path).substr(0, end == std::string::npos ? 0 : end);
    if (path != group) {
      node = tree.get_ptr<Object*>();
      for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t dot = std::min(path.find('.', begin), path.size());
        ordered_json& child = (*node)[std::string(path.substr(begin, dot - begin))];
        if (child.is_null()) {
          child = ordered_json::object();
          child.get_ref<Object&>().reserve(kRoom);
        }
        node = child.get_ptr<Object*>();
        begin = dot + 1;
      }
      group = path;
    }
    Figures figures = figures_of(e);
    ordered_json leaf = ordered_json::object();
    Object& members = leaf.get_ref<Object&>();
    members.reserve(figures.size() + 2);
    for (auto& [name, value] : figures) members.emplace_back(name, std::move(value));
    members.emplace_back("unit", e.unit);
    members.emplace_back("description", e.description);
    node->emplace_back(end == std::string::npos ? e.path : e.path.substr(end + 1), std::move(leaf));
  }
  return tree;
}

void write_text(std::ostream& out, const StatsRegistry& registry, bool zeros) {
  std::size_t left_out = 0;
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 3> width{};
  for (const StatsRegistry::Entry& e : registry.entries()) {
    for (const auto& [name, value] : figures_of(e)) {
      if (!zeros && value == 0) {
        ++left_out;
        continue;
      }
      const bool single = name == std::string_view("value");
      rows.push_back({single ? e.path : e.path + '.' + name, value.dump(), e.unit, e.description});
      for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], rows.back()[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    const auto pad = [&](std::size_t column) { text.append(width[column] - row[column].size() + 2, ' '); };
    text += row[0];
    pad(0);
    text.append(width[1] - row[1].size(), ' ') += row[1];
    text += "  ";
    text += row[2];
    pad(2);
    (text += row[3]) += '\n';
  }
  out << text;
  if (!zeros) out << left_out << " more figures are 0\n";
}

}  // namespace rnic
