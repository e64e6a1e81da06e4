#include "model/system/scenario_system.h"

#include "model/system/consumer_programs.h"
#include "model/system/scenario_config.h"
#include "model/system/workload_programs.h"

namespace rnic {

std::unique_ptr<System> make_system(const Scenario& scenario, const Overlay& command_line) {
  if (scenario.has_external_peer()) {
    auto system = std::make_unique<System>(ConsumerPrograms::settings(scenario, command_line));
    system->start<ConsumerPrograms>(scenario);
    return system;
  }
  ScenarioConfig resolved = resolve_scenario(scenario, command_line);
  auto system = std::make_unique<System>(std::move(resolved.run));
  system->start<WorkloadPrograms>(scenario, resolved.nodes);
  return system;
}

}  // namespace rnic
