// Values of a scenario by dotted path, which --set and sweeps name beside the settings of all nodes:
// "connections.c0.ord", "work.writes.size.max", "nodes.a.rnic.fwcpu.max_ord", "seed", "transport", "setup.batch".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/overlay.h"

namespace rnic {

struct Scenario;

// Whether the path is one of these words, or begins with a list of the scenario or a similar word: assign() names the
// nearest list.
bool is_scenario_path(std::string_view path);
// The part of an overlay that assign() takes, and the settings of all nodes.
Overlay scenario_values(const Overlay& overlay);
Overlay settings_of_all(const Overlay& overlay);

struct Assigned {
  nlohmann::json json;         // of the scenario, with the values in their places
  std::vector<Overlay> nodes;  // settings of each
};

// The reader of the result checks the values, and the keys below the name of an element. `scenario` was read from
// `json` and has all names, also default ones. Throws ConfigError for a path that does not exist.
Assigned assign(const nlohmann::json& json, const Scenario& scenario, const Overlay& values);

// By their paths, for the record.
nlohmann::json values_json(const Overlay& values);
// "connections.c0.ord = 8 (command line), work.w.depth = 1 (sweep)"
std::string text_of(const Overlay& values);

}  // namespace rnic
