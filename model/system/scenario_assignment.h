// Values of a scenario by dotted path, which --set and sweeps name beside the settings of all nodes:
// "connections.c0.ord", "work.writes.size.max", "nodes.a.rnic.fwcpu.max_ord".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config/overlay.h"

namespace rnic {

struct Scenario;

// Whether the path begins with a list of the scenario, or nearly so: assign() tells which list was meant.
bool is_scenario_path(std::string_view path);
// The part of an overlay that assign() takes, and the settings of all nodes.
Overlay scenario_values(const Overlay& overlay);
Overlay settings_of_all(const Overlay& overlay);

struct Assigned {
  nlohmann::json json;         // of the scenario, with the values in their places
  std::vector<Overlay> nodes;  // settings of each
};

// Whoever reads the result checks the values, and the keys below the name of an element. `scenario` is what `json` was
// read to: it knows the names, also those that the file leaves out. Throws ConfigError for a path that leads nowhere.
Assigned assign(const nlohmann::json& json, const Scenario& scenario, const Overlay& values);

// By their paths, for the record.
nlohmann::json values_json(const Overlay& values);
// "connections.c0.ord = 8 (command line), work.w.depth = 1 (sweep)"
std::string text_of(const Overlay& values);

}  // namespace rnic
