#include "model/stats/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

#include <fmt/format.h>
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

// JSON knows no infinity; a rate over no time has no value.
Figures figures(double value) { return {{"value", std::isfinite(value) ? ordered_json(value) : ordered_json()}}; }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Derived& derived) { return figures(derived()); }

double since(const StatsRegistry::Sum& sum) { return sum.value() - sum.before; }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Sum& sum) { return figures(since(sum)); }

Figures figures(const StatsRegistry::Entry&, const StatsRegistry::Ratio& ratio) {
  const double whole = since(ratio.whole);
  return figures(whole == 0 ? 0 : since(ratio.part) / whole);
}

Figures figures(const Histogram* h) {
  return {{"count", h->count()},         {"min", h->min()},
          {"mean", h->mean()},           {"p50", h->percentile(500)},
          {"p90", h->percentile(900)},   {"p99", h->percentile(990)},
          {"p99.9", h->percentile(999)}, {"max", h->max()}};
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

ordered_json to_json(const StatsRegistry& registry) {
  ordered_json tree = ordered_json::object();
  for (const StatsRegistry::Entry& e : registry.entries()) {
    ordered_json* node = &tree;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = e.path.find('.', begin)) != std::string::npos; begin = dot + 1) {
      node = &(*node)[e.path.substr(begin, dot - begin)];
    }
    ordered_json& leaf = (*node)[e.path.substr(begin)];
    for (auto& [name, value] : figures_of(e)) leaf[name] = std::move(value);
    leaf["unit"] = e.unit;
    leaf["description"] = e.description;
  }
  return tree;
}

void write_text(std::ostream& out, const StatsRegistry& registry) {
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 3> width{};
  for (const StatsRegistry::Entry& e : registry.entries()) {
    for (const auto& [name, value] : figures_of(e)) {
      const bool single = name == std::string_view("value");
      rows.push_back({single ? e.path : e.path + '.' + name, value.dump(), e.unit, e.description});
      for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], rows.back()[i].size());
    }
  }
  for (const auto& row : rows) {
    out << fmt::format("{:<{}}  {:>{}}  {:<{}}  {}\n", row[0], width[0], row[1], width[1], row[2], width[2], row[3]);
  }
}

}  // namespace rnic
