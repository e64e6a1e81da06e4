// The world that a scenario describes.
#pragma once

#include <memory>

#include "model/system/scenario.h"
#include "model/system/world.h"

namespace rnic {

// ConfigError for mistakes in the scenario or the command line.
std::unique_ptr<World> make_world(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic
