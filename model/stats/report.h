// Writes all figures of a run. Code that counts needs none of this.
#pragma once

#include <iosfwd>

#include <nlohmann/json_fwd.hpp>

#include "model/stats/registry.h"

namespace rnic {

// Nested by group, in the order of registration:
//   {"rx": {"fpdus": {"value": 12, "unit": "FPDUs", "description": "…"}}}
// A histogram has count, min, mean, p50, p90, p99, p99.9 and max in place of the value.
nlohmann::ordered_json to_json(const StatsRegistry& registry);

// One aligned line per figure: name, value, unit, description. Without those that are 0, the last line says how many
// they are.
void write_text(std::ostream& out, const StatsRegistry& registry, bool zeros = true);

}  // namespace rnic
