// The settings of a scenario's run and of its nodes.
#pragma once

#include <vector>

#include "model/config/overlay.h"
#include "model/system/scenario.h"
#include "model/system/system_config.h"

namespace rnic {

struct ScenarioConfig {
  SystemConfig run;
  std::vector<SystemConfig> nodes;
};

// Throws ConfigError for invalid settings, and for connections that exceed the capacity of the chips.
ScenarioConfig resolve_scenario(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic
