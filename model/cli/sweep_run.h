// The part of `rnicsim run` with a sweep: a process for each point, as the SystemC kernel elaborates once in a process.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/system/scenario.h"

namespace rnic::cli {

// Runs a point, in a process of its own: what it leaves goes to `out_dir`. Returns the exit code.
using RunPoint =
    std::function<int(std::size_t point, const std::string& out_dir, std::ostream& out, std::ostream& err)>;

struct SweepOptions {
  std::string out_dir;
  unsigned jobs = 1;    // points at a time
  bool resume = false;  // points that an earlier sweep of the same origin has finished are not run again
  // What the results come from, beside a point's values: they are the same where this and the point's images are.
  nlohmann::ordered_json origin;
  std::vector<nlohmann::ordered_json> images;  // by point: of the firmware, as far as it is not in the program
};

// Each point in a folder of `out_dir` named after its number, with what it said in report.txt, and in point.json that
// it is finished. Prints a row for each on `out` and writes sweep.json. Returns the highest exit code of all.
int run_sweep(const Scenario& scenario, const SweepOptions& options, const RunPoint& run, std::ostream& out,
              std::ostream& err);

}  // namespace rnic::cli
