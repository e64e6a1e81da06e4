// The part of `rnicsim run` with an external peer.
#pragma once

#include <iosfwd>
#include <string>

#include "model/system/scenario.h"

namespace rnic::cli {

// Says on `out` what came of it. Returns the exit code.
int run_external(const Scenario& scenario, const Overlay& command_line, const std::string& out_dir, std::ostream& out,
                 std::ostream& err);

}  // namespace rnic::cli
