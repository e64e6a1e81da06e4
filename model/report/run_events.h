// The page's data from a run's database: the events of chosen requests, and the firmware's commands.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rnic::report {

struct ChosenRequest {
  std::string id, why;
};

// [{"id", "why", "all": count, "parts": FPDUs, "drawn_parts", "events": [{"time_ps", "node", "where", "kind", "bytes",
// "part": its FPDU, "left_out": events before it, "text"}…]}…], with the events of drawn_events(): all of `chosen`,
// which must exist, then the existing ones of `examples`, then the slowest. Throws ConfigError.
nlohmann::ordered_json request_events(const std::string& database, const std::vector<std::string>& chosen,
                                      const std::vector<ChosenRequest>& examples);

// [{"time_ps", "node", "text", "cycles"}…]: the completion time of each command, and the cycles since its arrival.
nlohmann::ordered_json firmware_commands(const std::string& database);

}  // namespace rnic::report
