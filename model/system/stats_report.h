// The pieces of stats.json that are not counters of the chip.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/capture/replay/comparison.h"
#include "model/programs/workload/results.h"
#include "model/system/scenario.h"

namespace rnic {

// The scenario's name, and the values assigned to it.
nlohmann::ordered_json scenario_about(const Scenario& scenario);
nlohmann::ordered_json results_json(const std::vector<workload::WorkResult>& results, std::uint64_t cycle_ps);
nlohmann::ordered_json checks_json(const std::vector<CheckResult>& checks);
nlohmann::ordered_json versions_json();
nlohmann::ordered_json comparison_json(const replay::Comparison& comparison);

}  // namespace rnic
