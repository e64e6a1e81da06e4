// The part of `rnicsim run` with an external peer.
#pragma once

#include <iosfwd>
#include <string>

#include "model/cli/attached_twins.h"
#include "model/system/run_outputs.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// Says on `out` what came of it. Returns the exit code.
int run_external(const Scenario& scenario, const Overlay& command_line, const RunOptions& options,
                 const TwinOptions& twins, std::ostream& out, std::ostream& err);

}  // namespace rnic::cli
