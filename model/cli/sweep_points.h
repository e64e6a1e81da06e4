// The points of a sweep before they run: checks their settings, and identifies each by its inputs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/cli/attached_twins.h"
#include "model/config/overlay.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// Points k, k + n, k + 2 n …: the share of one of several processes that use a folder, perhaps on several machines.
struct SweepShare {
  std::size_t number = 0, of = 1;
  bool has(std::size_t point) const { return point % of == number; }
};

struct SweepPoints {
  // Made of program, all settings in effect, scenario, twins and firmware images: points with the same identity have
  // the same results.
  std::vector<std::string> ids;
  // The first point with the same identity: the point itself unless the share has it twice.
  std::vector<std::size_t> first;
  // If one axis varies at a time: for each axis, the value with which the others are compared; null if unknown.
  std::vector<nlohmann::json> baselines;
};

// Reads the settings of every point of the share. ConfigError for a point that cannot run, and for a --set of a setting
// that the sweep varies.
SweepPoints read_points(const Scenario& scenario, const Overlay& command_line, const TwinOptions& twins,
                        const SweepShare& share = {});

// The given columns or, without any, the goodput of each item. A point's items may have other directions than the
// file's, and their results then have other indexes.
std::vector<SweepColumn> columns_of(const Scenario& point, const std::vector<SweepColumn>& given);

}  // namespace rnic::cli
