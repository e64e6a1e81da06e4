// What judges a run, and whose RTL is in it, by the program's command line or by the options of the run library.
#pragma once

#include <boost/program_options.hpp>

#include "model/cli/one_run.h"

namespace rnic::cli {

class JudgeArguments {
 public:
  explicit JudgeArguments(OneRun& into) : into_(into) {}

  // Declares --rtl, --lockstep, --lockstep-inside, --scoreboard, --max-latency and --race-window.
  void add_to(boost::program_options::options_description& options);
  // Completes the options of twins and scoreboards. ConfigError for options that do not go together.
  void read(const boost::program_options::variables_map& given);

 private:
  OneRun& into_;
};

}  // namespace rnic::cli
