// The programs of a scenario with an external peer.
#pragma once

#include <vector>

#include "model/system/scenario.h"
#include "model/system/scenario_value.h"

namespace rnic {

// Reads the key `programs` and refuses what only counts between two modelled nodes.
std::vector<consumer::ProgramSpec> read_programs(const ScenarioValue& root, const std::vector<ScenarioNode>& nodes);

}  // namespace rnic
