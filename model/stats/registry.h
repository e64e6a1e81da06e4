// All figures of a run by dotted path. Components own their counters; the registry knows their locations, names and
// units. report.h writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/stats/high_water.h"
#include "model/stats/histogram.h"

namespace rnic {

class StatsRegistry {
 public:
  // Computed when the figures are written, from the state at that time.
  using Derived = std::function<double()>;
  // Likewise, but its value at a restart is subtracted.
  struct Sum {
    Derived value;
    double before = 0;
  };
  // One sum as a share of another.
  struct Ratio {
    Sum part, whole;
  };
  using Source = std::variant<const std::uint64_t*, const HighWater*, const Histogram*, Derived, Sum, Ratio>;
  struct Entry {
    std::string path;
    Source source;
    std::string unit, description;
    // Set by restart(): a counter's value, or a copy of a histogram.
    std::uint64_t counted_before = 0;
    std::shared_ptr<const Histogram> recorded_before;
  };

  // The source must live until the figures have been written. A path is registered once, and is either a figure or a
  // group of figures.
  void add(const std::string& path, Source source, std::string unit, std::string description);

  // Excludes everything counted, recorded or reached until now.
  void restart();

  // The current value of a figure, regardless of a restart; not for histograms and ratios.
  double value(const std::string& path) const;
  const Entry& entry(const std::string& path) const;

  const std::vector<Entry>& entries() const { return entries_; }  // in the order of registration

 private:
  std::vector<Entry> entries_;
  std::set<std::string> paths_, groups_;
};

// A place in the hierarchy. A component gets it and registers without knowing where it stands.
class StatsGroup {
 public:
  StatsGroup() = default;  // not in the tree: drops registrations
  explicit StatsGroup(StatsRegistry& registry, std::string path = {}) : registry_(&registry), path_(std::move(path)) {}

  StatsGroup group(const std::string& name) const {
    return registry_ == nullptr ? StatsGroup() : StatsGroup(*registry_, join(name));
  }
  // A component's counters: Counters::fields(v) calls v(key, member, unit, description) for each member.
  template <class Counters>
  void counters(const Counters& counters) const {
    const auto each = [&](const char* key, auto member, const char* unit, const char* description) {
      if constexpr (std::is_convertible_v<decltype(member), HighWater Counters::*>) {
        add(key, &(counters.*member), unit, description);
      } else {
        static_assert(std::is_convertible_v<decltype(member), std::uint64_t Counters::*>);
        counter(key, counters.*member, unit, description);
      }
    };
    Counters::fields(each);
  }
  void counter(const std::string& name, const std::uint64_t& counter, std::string unit, std::string description) const {
    add(name, &counter, std::move(unit), std::move(description));
  }
  void high_water(const std::string& name, const HighWater& most, std::string unit, std::string description) const {
    add(name, &most, std::move(unit), std::move(description));
  }
  void histogram(const std::string& name, const Histogram& histogram, std::string unit, std::string description) const {
    add(name, &histogram, std::move(unit), std::move(description));
  }
  // A value that only grows, from an owner that does not count it for statistics.
  void sum(const std::string& name, StatsRegistry::Derived value, std::string unit, std::string description) const {
    add(name, StatsRegistry::Sum{std::move(value)}, std::move(unit), std::move(description));
  }
  // Both values only grow; 0 if `whole` is 0.
  void ratio(const std::string& name, StatsRegistry::Derived part, StatsRegistry::Derived whole,
             std::string description) const {
    add(name, StatsRegistry::Ratio{{std::move(part)}, {std::move(whole)}}, "ratio", std::move(description));
  }
  void derived(const std::string& name, StatsRegistry::Derived value, std::string unit, std::string description) const {
    add(name, std::move(value), std::move(unit), std::move(description));
  }

 private:
  std::string join(const std::string& name) const { return path_.empty() ? name : path_ + '.' + name; }
  void add(const std::string& name, StatsRegistry::Source source, std::string unit, std::string description) const {
    if (registry_ != nullptr) registry_->add(join(name), std::move(source), std::move(unit), std::move(description));
  }
  StatsRegistry* registry_ = nullptr;
  std::string path_;
};

}  // namespace rnic
