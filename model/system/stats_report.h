// The pieces of stats.json that are not counters of the chip.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/common/clock_domain.h"
#include "model/env/peer/comparison.h"
#include "model/env/workload/results.h"
#include "model/rnic/pcie/pcie_transmitter.h"
#include "model/stats/registry.h"
#include "model/system/scenario.h"

namespace rnic {

class Node;

nlohmann::ordered_json results_json(const std::vector<workload::WorkResult>& results, std::uint64_t cycle_ps);
nlohmann::ordered_json checks_json(const std::vector<CheckResult>& checks);
nlohmann::ordered_json versions_json();
nlohmann::ordered_json comparison_json(const replay::Comparison& comparison);

// What the calendar itself did: kernel events, busy cycles, stage calls.
void register_clock(const StatsGroup& group, const ClockDomain& clk);

// Everything that a node counts.
void register_node(const StatsGroup& group, const Node& node);

// A structure of plain counters that lists them: (key, member, unit, description).
template <class Counters>
void register_counters(const StatsGroup& group, const Counters& counters) {
  const auto add = [&](const char* key, auto member, const char* unit, const char* description) {
    group.derived(
        key, [&counters, member] { return static_cast<double>(counters.*member); }, unit, description);
  };
  Counters::fields(add);
}

}  // namespace rnic
