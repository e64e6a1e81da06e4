// Sweeps of `rnicsim run`: one process per point, as the SystemC kernel elaborates only once per process.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "model/cli/sweep_points.h"
#include "model/system/scenario.h"

namespace rnic::cli {

// Runs a point in its own process, with its outputs in `out_dir`. Returns the exit code.
using RunPoint =
    std::function<int(std::size_t point, const std::string& out_dir, std::ostream& out, std::ostream& err)>;

enum class KeptPoints { kAll, kFailed, kNone };

struct SweepOptions {
  std::string out_dir;
  unsigned jobs = 1;                   // points at a time
  bool resume = false;                 // points with results in the folder are not run again
  bool collect = false;                // and the others are not run either
  KeptPoints kept = KeptPoints::kAll;  // the points whose folders remain
  SweepShare share;
};

// "3/16"; "all", "failed" or "none". ConfigError for other text.
SweepShare parse_share(const std::string& text);
KeptPoints parse_kept(const std::string& text);

// Removes an earlier sweep's files from the folder. ConfigError if that sweep still runs.
void remove_sweep(const std::string& folder);

// Runs each point in a folder of `out_dir` named after its number, with its output in report.txt and its results in a
// journal. Prints a row per point on `out` and, unless this is one of several shares, writes sweep.json and sweep.csv.
// Returns the highest exit code.
int run_sweep(const Scenario& scenario, const SweepPoints& points, const SweepOptions& options, const RunPoint& run,
              std::ostream& out, std::ostream& err);

}  // namespace rnic::cli
