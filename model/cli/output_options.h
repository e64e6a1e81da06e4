// The output options of a command that simulates chips: transaction log, waveform, and figures over time.
#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "model/system/run_outputs.h"

namespace rnic::cli {

class OutputOptions {
 public:
  explicit OutputOptions(RunOptions& into) : into_(into) {}
  // Declares --trace, --trace-request, --trace-node, --trace-kind, --trace-from and --trace-to, --breakdown, --db,
  // --perfetto, --capture-tlps, --capture-requests, --wave, --wave-scope, --wave-from and --wave-to, --wave-on,
  // --wave-for and --wave-ring, --stats-every, --stats-per-qp, --no-zeros and --warmup.
  void add_to(boost::program_options::options_description& options);
  // The words of a command line, with a value for each option that may stand alone: last, or before another option. So
  // the word after such an option is always its value.
  static std::vector<std::string> with_values(const std::vector<std::string>& args);
  // Completes the RunOptions. ConfigError, beginning with the command's name, for options that do not go together.
  void read(const std::string& command, const boost::program_options::variables_map& given);
  // What is asked for is not a run, but the scopes that its waveform could have: --wave-scope stands alone.
  bool lists_scopes() const { return lists_scopes_; }

 private:
  RunOptions& into_;
  bool lists_scopes_ = false;
  std::string trace_from_, trace_to_, wave_from_, wave_to_, wave_for_, wave_ring_, stats_every_, warmup_;
};

}  // namespace rnic::cli
