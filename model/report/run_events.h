// What a run's database tells on the page: the events of chosen requests, and the firmware's commands.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rnic::report {

struct ChosenRequest {
  std::string id, why;
};

// [{"id", "why", "events": [{"time_ps", "node", "where", "kind", "bytes", "text"}…]}…]: `chosen`, which have to be
// there; then `examples` that are there, and the slowest. Throws ConfigError.
nlohmann::ordered_json request_events(const std::string& database, const std::vector<std::string>& chosen,
                                      const std::vector<ChosenRequest>& examples);

// [{"time_ps", "node", "text", "cycles"}…]: when each command was done, and the cycles since it had come.
nlohmann::ordered_json firmware_commands(const std::string& database);

}  // namespace rnic::report
