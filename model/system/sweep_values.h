// The values of an axis of a sweep: a list, a range, or an interval that a sample is taken from.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/common/prng.h"
#include "model/system/scenario_value.h"

namespace rnic {

// An object instead of a list of values.
struct SweepRange {
  double from = 0, to = 0;
  double step = 0, factor = 0;  // 0: not given
  unsigned per_decade = 0;
  bool logarithmic = false;  // an interval, for samples
  bool whole = false;        // both ends are whole numbers, and so are all values

  bool is_interval() const { return step == 0 && factor == 0 && per_decade == 0; }
};

// Throws ConfigError.
SweepRange read_range(const ScenarioValue& v);

// Of a range that is no interval; at most `most` + 1 of them.
std::vector<nlohmann::json> values_of(const SweepRange& range, std::size_t most);

// Numbers in [0, 1): `points` at random, or one in each of as many strata, in random order.
std::vector<double> shares(unsigned points, bool in_strata, Prng& random);

// What is at that share of the list or interval.
nlohmann::json sample(const std::vector<nlohmann::json>& list, double share);
nlohmann::json sample(const SweepRange& interval, double share);

}  // namespace rnic
