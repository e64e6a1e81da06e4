// The part of `rnicsim run` that is one run: a simulation, its report and its exit code.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/cli/attached_twins.h"
#include "model/config/overlay.h"
#include "model/system/scenario.h"
#include "model/system/simulation.h"

namespace rnic::cli {

struct OneRun {
  RunOptions options;
  TwinOptions twins;
  bool shows_progress = true;
};

// Once in a process. Returns the exit code.
int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& run, std::ostream& out,
            std::ostream& err);

// Says which files could not be written, each with its reason. Returns the exit code.
int tell_unwritten(const std::vector<std::string>& failures, std::ostream& err);

}  // namespace rnic::cli
