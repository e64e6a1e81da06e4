#include "model/stats/registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"

namespace rnic {
namespace {

using nlohmann::ordered_json;

// One word for each thing, the same in all of a run's outputs. "ratio" is of 0 to 1.
constexpr std::string_view kUnits[] = {
    "CQEs",        "CQs",        "FPDUs",      "MRs",      "QPs",        "SRQs",      "STags",    "TLPs",
    "ULPDUs",      "WQEs",       "accesses",   "bursts",   "calls",      "changes",   "commands", "completions",
    "connections", "cycles",     "doorbells",  "errors",   "events",     "flows",     "frames",   "instructions",
    "listeners",   "markers",    "messages",   "octets",   "operations", "packets",   "ps",       "ratio",
    "reads",       "recoveries", "reductions", "reports",  "requests",   "responses", "restarts", "segments",
    "slots",       "stalls",     "streams",    "timeouts", "timers",     "writes"};

// The figures of one source by name; a single value has the name "value".
using Figures = std::vector<std::pair<const char*, ordered_json>>;

Figures figures(const Counter* counter) { return {{"value", counter->value()}}; }

// JSON knows no infinity; a rate over no time has no value.
Figures figures(const StatsRegistry::Derived& derived) {
  const double value = derived();
  return {{"value", std::isfinite(value) ? ordered_json(value) : ordered_json()}};
}

Figures figures(const Histogram* h) {
  return {{"count", h->count()},         {"min", h->min()},
          {"mean", h->mean()},           {"p50", h->percentile(500)},
          {"p90", h->percentile(900)},   {"p99", h->percentile(990)},
          {"p99.9", h->percentile(999)}, {"max", h->max()}};
}

Figures figures_of(const StatsRegistry::Source& source) {
  return std::visit([](const auto& s) { return figures(s); }, source);
}

}  // namespace

void StatsRegistry::add(const std::string& path, Source source, std::string unit, std::string description) {
  RNIC_CHECK_MSG(std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits),
                 path + " counts in unknown units: " + unit);
  RNIC_CHECK_MSG(!description.empty(), path + " has no description");
  RNIC_CHECK_MSG(groups_.count(path) == 0, path + " is a group of figures");
  RNIC_CHECK_MSG(paths_.insert(path).second, path + " is registered twice");
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    RNIC_CHECK_MSG(paths_.count(path.substr(0, dot)) == 0, path + " lies within a figure");
    groups_.insert(path.substr(0, dot));
  }
  entries_.push_back({path, std::move(source), std::move(unit), std::move(description)});
}

double StatsRegistry::value(const std::string& path) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.path == path; });
  RNIC_CHECK_MSG(entry != entries_.end() && !std::holds_alternative<const Histogram*>(entry->source),
                 path + " is no single figure");
  if (const auto* counter = std::get_if<const Counter*>(&entry->source))
    return static_cast<double>((*counter)->value());
  return std::get<Derived>(entry->source)();
}

ordered_json StatsRegistry::to_json() const {
  ordered_json tree = ordered_json::object();
  for (const Entry& e : entries_) {
    ordered_json* node = &tree;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = e.path.find('.', begin)) != std::string::npos; begin = dot + 1) {
      node = &(*node)[e.path.substr(begin, dot - begin)];
    }
    ordered_json& leaf = (*node)[e.path.substr(begin)];
    for (auto& [name, value] : figures_of(e.source)) leaf[name] = std::move(value);
    leaf["unit"] = e.unit;
    leaf["description"] = e.description;
  }
  return tree;
}

void StatsRegistry::write_text(std::ostream& out) const {
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 3> width{};
  for (const Entry& e : entries_) {
    for (const auto& [name, value] : figures_of(e.source)) {
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
