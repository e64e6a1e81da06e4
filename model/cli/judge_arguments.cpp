#include "model/cli/judge_arguments.h"

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::cli {

namespace po = boost::program_options;

void JudgeArguments::add_to(po::options_description& options) {
  auto add = options.add_options();
  add("rtl", po::value(&into_.twins.rtl)->value_name("stages"),
      "run with the SystemVerilog twins of these stages in their places: all, or names separated by commas; all,-NAME "
      "leaves one out, NAME=LIB.so takes the RTL of a library that `rnicsim rtl` has built");
  add("lockstep", po::value(&into_.twins.lockstep)->value_name("stages"),
      "run these stages beside their twins, and stop at the first difference");
  add("lockstep-inside",
      "with --lockstep or --rtl: what ends the run also writes a waveform of the signals inside the twin");
  add("scoreboard", po::value(&into_.scoreboards.stages)->value_name("stages"),
      "compare what these stages give, or the RTL in their places, with librnic_golden, in whatever cycles they work: "
      "all, or names separated by commas; all,-NAME leaves one out");
  add("max-latency", po::value(&into_.scoreboards.max_latency)->value_name("cycles"),
      "with --scoreboard: what a stage has accepted gives its outcome within so many cycles; 10000 unless given");
  add("race-window", po::value(&into_.scoreboards.race_window)->value_name("cycles"),
      "with --scoreboard: what comes first of two messages that race shows within so many cycles; 64 unless given");
}

void JudgeArguments::read(const po::variables_map& given) {
  into_.twins.inside = given.count("lockstep-inside") != 0;
  if (into_.twins.inside && !into_.twins.any()) throw ConfigError("run: --lockstep-inside needs --lockstep or --rtl");
  for (const char* option : {"max-latency", "race-window"}) {
    if (given.count(option) != 0 && !into_.scoreboards.any())
      throw ConfigError(fmt::format("run: --{} needs --scoreboard", option));
  }
}

}  // namespace rnic::cli
