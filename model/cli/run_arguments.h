// What a single run is asked for, by the program's command line or by the options of the run library: its outputs,
// settings and values, and which point of a sweep it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <boost/program_options.hpp>

#include "model/cli/options.h"
#include "model/cli/output_options.h"
#include "model/config/overlay.h"
#include "model/system/run_outputs.h"
#include "model/system/scenario.h"

namespace rnic::cli {

class RunArguments {
 public:
  // `into.out_dir` is the folder if none is asked for.
  RunArguments(RunOptions& into, ConfigOptions& config) : into_(into), config_(config), outputs_(into) {}

  // Declares --out, --no-capture and the outputs.
  void add_outputs_to(boost::program_options::options_description& options);
  // Declares --point, --set and the scenario.
  void add_scenario_to(boost::program_options::options_description& options,
                       boost::program_options::positional_options_description& positional);
  // Completes the RunOptions. ConfigError for options that do not go together.
  void read(const boost::program_options::variables_map& given);

  bool lists_scopes() const { return outputs_.lists_scopes(); }
  // The point of a sweep, if one is asked for.
  const std::optional<std::size_t>& point() const { return point_; }

 private:
  RunOptions& into_;
  ConfigOptions& config_;
  OutputOptions outputs_;
  std::optional<std::size_t> point_;
};

// A word of a command, as a shell takes it.
std::string quoted(const std::string& word);

// The options --set of a run: values of the scenario, and settings of all nodes.
struct Assignments {
  explicit Assignments(const ConfigOptions& config);
  Overlay scenario, settings;
};

// A point of a scenario's sweep as a scenario. ConfigError if the sweep has no such point.
Scenario point_of(const Scenario& scenario, std::size_t point);

}  // namespace rnic::cli
