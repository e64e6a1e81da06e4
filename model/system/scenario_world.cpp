#include "model/system/scenario_world.h"

#include "model/system/external_world.h"
#include "model/system/two_node_world.h"

namespace rnic {

std::unique_ptr<World> make_world(const Scenario& scenario, const Overlay& command_line) {
  if (scenario.has_external_peer()) return std::make_unique<ExternalWorld>(scenario, command_line);
  return std::make_unique<TwoNodeWorld>(scenario, command_line);
}

}  // namespace rnic
