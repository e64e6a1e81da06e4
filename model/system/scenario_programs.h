// The programs of a scenario with an external peer.
#pragma once

#include <vector>

#include "model/system/scenario.h"
#include "model/system/scenario_value.h"

namespace rnic {

// Reads the key `programs` and refuses keys that apply to two modelled nodes only.
std::vector<consumer::ProgramSpec> read_programs(const ScenarioValue& root, const std::vector<ScenarioNode>& nodes,
                                                 host::Transport transport);

}  // namespace rnic
