// One run of a system: attaches twins, drives it to its end, writes outputs and reports.
#pragma once

#include <exception>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/cli/attached_twins.h"
#include "model/config/overlay.h"
#include "model/scoreboard/scoreboards.h"
#include "model/system/run.h"
#include "model/system/scenario.h"

namespace rnic::cli {

struct OneRun {
  RunOptions options;
  TwinOptions twins;
  ScoreboardOptions scoreboards;
  std::string command;  // how a user asks for this run again
  bool shows_progress = true;
};

// The result of a run and its twins. A Report prints it and returns the exit code.
struct RunResult {
  const Run& run;
  RunEnd end;
  const AttachedTwins& twins;
};
using Report = std::function<int(const RunResult& result)>;

// Prints what a run has given: first line, table, verdicts, files, and why it did not end well. Returns the exit code.
int report_run(const System& system, const RunResult& result, const RunOptions& options, std::ostream& out,
               std::ostream& err);

// Reports which files could not be written, each with its reason. Returns the exit code.
int tell_unwritten(const std::vector<std::string>& failures, std::ostream& err);

// A run that is over, with what judged it. `beyond`: what a stranger's RTL has brought the model to, or empty.
struct Finished {
  Run& run;
  RunEnd end;
  const AttachedTwins& twins;
  const Scoreboards& boards;
  std::string beyond;
};
// Why an exception has ended a run: a fault of a twin or under a scoreboard, or a stranger's RTL, which `beyond` then
// names. False: none of them.
bool explains(const std::exception& e, const AttachedTwins& twins, const Scoreboards& boards, const OneRun& run,
              std::string& beyond);
// Writes the outputs of such a run, and reports it as run_system() does.
int conclude(const System& system, const Finished& finished, const OneRun& run, const Report& report,
             std::ostream& err);

// Once per process. Returns the exit code of a twin's fault or the report, at least kNotWritten if an output fails.
int run_system(System& system, const OneRun& run, const Report& report, std::ostream& err);

// Runs the system that the scenario describes.
int run_one(const Scenario& scenario, const Overlay& command_line, const OneRun& run, std::ostream& out,
            std::ostream& err);

// Prints the scopes of a system's waveform, a line each.
void list_scopes(System& system, std::ostream& out);
// Those of the system that the scenario describes. Once per process. Returns the exit code.
int list_scopes(const Scenario& scenario, const Overlay& command_line, std::ostream& out);

// stats.json of such a run before its first picosecond, with nothing counted. Once per process.
nlohmann::ordered_json statistics_before(const Scenario& scenario, const Overlay& command_line);

}  // namespace rnic::cli
