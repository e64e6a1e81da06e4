// The part of `rnicsim run` with a sweep: a process for each point, as the SystemC kernel elaborates once in a process.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "model/system/scenario.h"

namespace rnic::cli {

// Runs a point, in a process of its own: what it leaves goes to `out_dir`. Returns the exit code.
using RunPoint =
    std::function<int(std::size_t point, const std::string& out_dir, std::ostream& out, std::ostream& err)>;

// `jobs` points at a time, each in a folder of `out_dir` named after its number, with what it said in report.txt.
// Prints a row for each on `out` and writes sweep.json. Returns the highest exit code of all.
int run_sweep(const Scenario& scenario, const std::string& out_dir, unsigned jobs, const RunPoint& run,
              std::ostream& out, std::ostream& err);

}  // namespace rnic::cli
