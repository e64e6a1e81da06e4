// What scoreboards have found, for a reader.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/cli/one_run.h"

namespace rnic::cli {

// Five lines: where a stage differs, and the command that shows it. Writes the inside of the stage's twin with
// --lockstep-inside. Returns the exit code.
int report_mismatch(const Scoreboards::Fault& fault, const AttachedTwins& twins, const std::vector<std::string>& nodes,
                    const OneRun& run, std::ostream& err);

// A line, and scoreboard.json among the outputs. Returns the exit code. Nothing without --scoreboard.
int report_boards(const Scoreboards& boards, const OneRun& run, RunOutputs& outputs, std::ostream& err);

}  // namespace rnic::cli
