// One run of a system: twins attached, driven to its end, outputs written, and its report.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/cli/attached_twins.h"
#include "model/config/overlay.h"
#include "model/system/run.h"
#include "model/system/scenario.h"

namespace rnic::cli {

struct OneRun {
  RunOptions options;
  TwinOptions twins;
  bool shows_progress = true;
};

// What a run and its twins came to; `report` prints it and returns the exit code.
struct RunResult {
  const Run& run;
  RunEnd end;
  const AttachedTwins& twins;
};
using Report = std::function<int(const RunResult& result)>;

// Once in a process. Returns the exit code: that of the report, or of what comes before it.
int run_system(System& system, const OneRun& run, const Report& report, std::ostream& err);

// The system that the scenario describes.
int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& run, std::ostream& out,
            std::ostream& err);

// stats.json of such a run before its first picosecond, with nothing counted. Once in a process.
nlohmann::ordered_json statistics_before(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic::cli
