// The columns of a sweep, before any point runs.
#pragma once

#include "model/config/overlay.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// ConfigError, with the nearest path, for a column that names nothing in the statistics of the first point, as they are
// before its first picosecond. What only the end of a run has (checks, distributions) is not asked for. To be called
// before SystemC is initialised: a process of its own builds the point.
void check_columns(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic::cli
