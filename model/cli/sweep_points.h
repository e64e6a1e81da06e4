// The points of a sweep before they run: their settings are checked, and each has an identity by what it comes from.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/cli/attached_twins.h"
#include "model/config/overlay.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// Points k, k + n, k + 2 n … of several processes, perhaps on several machines, that share a folder.
struct SweepShare {
  std::size_t number = 0, of = 1;
  bool has(std::size_t point) const { return point % of == number; }
};

struct SweepPoints {
  // Of program, all settings in effect, scenario, twins and firmware images: points with the same have the same
  // results.
  std::vector<std::string> ids;
  // The first point with the same identity, which is itself unless a point of the share is there twice.
  std::vector<std::size_t> first;
  // Of each axis, if one varies at a time: the value that the others are compared with; null if it is not known.
  std::vector<nlohmann::json> baselines;
};

// Reads the settings of every point of the share. ConfigError for a point that cannot run, and for a --set of what the
// sweep varies.
SweepPoints read_points(const Scenario& scenario, const Overlay& command_line, const TwinOptions& twins,
                        const SweepShare& share = {});

// Unless the scenario has columns, the goodput of each item. A point may have items in other directions than the file,
// and results at other places with them.
std::vector<SweepColumn> columns_of(const Scenario& point, const std::vector<SweepColumn>& given);

}  // namespace rnic::cli
