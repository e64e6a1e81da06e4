// The part of `rnicsim run` with a sweep: a process for each point, as the SystemC kernel elaborates once in a process.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "model/cli/sweep_points.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// Runs a point, in a process of its own: what it leaves goes to `out_dir`. Returns the exit code.
using RunPoint =
    std::function<int(std::size_t point, const std::string& out_dir, std::ostream& out, std::ostream& err)>;

enum class KeptPoints { kAll, kFailed, kNone };

struct SweepOptions {
  std::string out_dir;
  unsigned jobs = 1;                   // points at a time
  bool resume = false;                 // points of which the folder has results are not run again
  bool collect = false;                // nor are the others
  KeptPoints kept = KeptPoints::kAll;  // the points whose folders remain
  SweepShare share;
};

// "3/16"; "all", "failed" or "none". ConfigError for others.
SweepShare parse_share(const std::string& text);
KeptPoints parse_kept(const std::string& text);

// Removes what an earlier sweep has left in the folder. ConfigError if it still runs.
void remove_sweep(const std::string& folder);

// Each point in a folder of `out_dir` named after its number, with what it said in report.txt, and its results in a
// journal. Prints a row for each on `out` and, unless it is one share of several, writes sweep.json and sweep.csv.
// Returns the highest exit code of all.
int run_sweep(const Scenario& scenario, const SweepPoints& points, const SweepOptions& options, const RunPoint& run,
              std::ostream& out, std::ostream& err);

}  // namespace rnic::cli
