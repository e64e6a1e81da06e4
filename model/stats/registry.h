// All figures of a run by dotted path. Components own their counters; the registry knows where they are, what they
// are called and in which unit they count.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/stats/counter.h"
#include "model/stats/histogram.h"

namespace rnic {

class StatsRegistry {
 public:
  // Computed when the figures are written: rates, shares, and counts that a component keeps in its own way.
  using Derived = std::function<double()>;
  using Source = std::variant<const Counter*, const Histogram*, Derived>;

  // The source must live until the figures have been written. A path is registered once, and is either a figure or a
  // group of figures.
  void add(const std::string& path, Source source, std::string unit, std::string description);

  // What a figure is now; not of histograms.
  double value(const std::string& path) const;

  // Nested by group, in the order of registration:
  //   {"rx": {"fpdus": {"value": 12, "unit": "FPDUs", "description": "…"}}}
  // A histogram has count, min, mean, p50, p90, p99, p99.9 and max in place of the value.
  nlohmann::ordered_json to_json() const;

  // One aligned line per figure: name, value, unit, description.
  void write_text(std::ostream& out) const;

 private:
  struct Entry {
    std::string path;
    Source source;
    std::string unit, description;
  };
  std::vector<Entry> entries_;
  std::set<std::string> paths_, groups_;
};

// A place in the hierarchy, given to a component so that it can register without knowing where it stands.
class StatsGroup {
 public:
  explicit StatsGroup(StatsRegistry& registry, std::string path = {}) : registry_(&registry), path_(std::move(path)) {}

  StatsGroup group(const std::string& name) const { return StatsGroup(*registry_, join(name)); }
  void counter(const std::string& name, const Counter& counter, std::string unit, std::string description) const {
    registry_->add(join(name), &counter, std::move(unit), std::move(description));
  }
  void histogram(const std::string& name, const Histogram& histogram, std::string unit, std::string description) const {
    registry_->add(join(name), &histogram, std::move(unit), std::move(description));
  }
  void derived(const std::string& name, StatsRegistry::Derived value, std::string unit, std::string description) const {
    registry_->add(join(name), std::move(value), std::move(unit), std::move(description));
  }
  // A structure of plain counters that lists them: Counters::fields(v) calls v(key, member, unit, description).
  template <class Counters>
  void counters(const Counters& counters) const {
    const auto add = [&](const char* key, auto member, const char* unit, const char* description) {
      derived(
          key, [&counters, member] { return static_cast<double>(counters.*member); }, unit, description);
    };
    Counters::fields(add);
  }

 private:
  std::string join(const std::string& name) const { return path_.empty() ? name : path_ + '.' + name; }
  StatsRegistry* registry_;
  std::string path_;
};

}  // namespace rnic
