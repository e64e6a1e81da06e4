// Checks a sweep's columns before any point runs.
#pragma once

#include "model/config/overlay.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// ConfigError, with the nearest path, for a column that names nothing in the first point's statistics before its first
// picosecond. Members that only exist at the end of a run (checks, distributions) are not checked. Call it before
// SystemC is initialised: a separate process builds the point.
void check_columns(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic::cli
