// The system that a scenario describes.
#pragma once

#include <memory>

#include "model/config/overlay.h"
#include "model/system/scenario.h"
#include "model/system/system.h"

namespace rnic {

// ConfigError for mistakes in the scenario or the command line. With an external peer, its sockets exist when this
// returns.
std::unique_ptr<System> make_system(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic
