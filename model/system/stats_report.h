// The pieces of stats.json that are not counters of the chip.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/capture/replay/comparison.h"
#include "model/common/clock_domain.h"
#include "model/programs/workload/results.h"
#include "model/stats/registry.h"
#include "model/system/scenario.h"

namespace rnic {

class Node;

// The scenario's name, and the values assigned to it.
nlohmann::ordered_json scenario_about(const Scenario& scenario);
nlohmann::ordered_json results_json(const std::vector<workload::WorkResult>& results, std::uint64_t cycle_ps);
nlohmann::ordered_json checks_json(const std::vector<CheckResult>& checks);
nlohmann::ordered_json versions_json();
nlohmann::ordered_json comparison_json(const replay::Comparison& comparison);

// What the calendar itself did: kernel events, busy cycles, stage calls.
void register_clock(const StatsGroup& group, const ClockDomain& clk);

// Everything that a node counts.
void register_node(const StatsGroup& group, const Node& node);

}  // namespace rnic
