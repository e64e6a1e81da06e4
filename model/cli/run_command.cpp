#include "model/cli/run_command.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/judge_arguments.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/cli/other_program.h"
#include "model/cli/output_options.h"
#include "model/cli/rtl_command.h"
#include "model/cli/run_arguments.h"
#include "model/cli/sweep_columns.h"
#include "model/cli/sweep_points.h"
#include "model/cli/sweep_run.h"
#include "model/common/check.h"
#include "model/rnic/twins.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

std::uint16_t parse_port(int port) {
  if (port < 0 || port > UINT16_MAX) throw ConfigError(fmt::format("--gdb: {} is no TCP port", port));
  return static_cast<std::uint16_t>(port);
}

struct Arguments {
  ConfigOptions config;
  OneRun run;
  SweepOptions sweep;
};

// Runs one point as a single run, or all points once it has read the settings of each.
int run_swept(const Scenario& scenario, const Overlay& command_line, const Arguments& a,
              std::optional<std::size_t> only, const po::variables_map& given, std::ostream& out, std::ostream& err) {
  if (only) {
    const Scenario one = point_of(scenario, *only);
    out << fmt::format("point {}: {}\n", *only, scenario.sweep.text(*only));
    return run_one(one, command_line, a.run, out, err);
  }
  for (const char* option : {"trace", "db", "perfetto", "wave", "gdb"}) {
    if (given.count(option) != 0)
      throw ConfigError(fmt::format("run: --{} applies to one point of a sweep only; use --point", option));
  }
  for (const auto& [option, is_given] : {std::pair("capture-tlps", a.run.options.capture_tlps),
                                         std::pair("capture-requests", a.run.options.capture_requests)}) {
    if (is_given)
      throw ConfigError(
          fmt::format("run: --{} applies to one point of a sweep only, as there is no capture of the "
                      "others; use --point",
                      option));
  }
  const SweepPoints points = read_points(scenario, command_line, a.run.twins, a.sweep.share);
  check_columns(scenario, command_line);
  const auto run = [&](std::size_t point, const std::string& dir, std::ostream& report, std::ostream& errors) {
    OneRun one = a.run;
    one.options.out_dir = dir;
    one.options.capture = false;
    one.shows_progress = false;
    return run_one(at_point(scenario, point), command_line, one, report, errors);
  };
  SweepOptions options = a.sweep;
  options.out_dir = a.run.options.out_dir;
  return run_sweep(scenario, points, options, run, out, err);
}

// Becomes another program if the project's own twins are asked for and this one lacks them. Without that program they
// are built one by one.
void find_twins(const TwinOptions& asked, const std::vector<std::string>& args) {
  if (!asked.any() || (asked.source != nullptr && !asked.need_built_in())) return;
  const TwinSource* const here = asked.source;
  if (asked.inside && (here == nullptr || !here->shows_inside())) become(OtherProgram::kRtlInside, "run", args);
  if (here != nullptr && here->is_built_in()) return;
  if (here == nullptr || is_there(OtherProgram::kRtl) || !can_build_rtl()) become(OtherProgram::kRtl, "run", args);
}

}  // namespace

int run_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins) {
  Arguments a;
  po::options_description options("options");
  po::positional_options_description positional;
  auto add = options.add_options();
  add("help,h", "this text");
  RunArguments arguments(a.run.options, a.config);
  arguments.add_outputs_to(options);
  JudgeArguments judges(a.run);
  judges.add_to(options);
  add("gdb", po::value<int>()->value_name("port"),
      "wait on this port of 127.0.0.1 for gdb to debug the RV32 firmware; 0 chooses one");
  a.sweep.jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string share, kept;
  add("jobs", po::value(&a.sweep.jobs)->value_name("n"),
      "of a sweep: points that run at a time; all processors unless given");
  add("resume", "of a sweep: continue an earlier one in the same folder, without its finished points");
  add("keep-points", po::value(&kept)->value_name("which")->default_value("all"),
      "of a sweep: the points whose folders remain: all, failed or none");
  add("share", po::value(&share)->value_name("k/n"),
      "of a sweep: only points k, k+n, k+2n and so on, beside other processes with the same folder (rnicsim sweep)");
  add("collect", "of a sweep: run nothing, and put the results together that the folder has");
  arguments.add_scenario_to(options, positional);
  const po::variables_map given = parse_options(OutputOptions::with_values(args), options, positional);
  if (given.count("help") != 0) {
    out << "usage: rnicsim run SCENARIO [options]\n\n" << options;
    return kOk;
  }
  if (a.config.scenario.empty()) throw ConfigError("run: which scenario? traces/quickstart.json is a good start");
  arguments.read(given);
  if (given.count("gdb") != 0) a.run.options.gdb_port = parse_port(given["gdb"].as<int>());
  judges.read(given);
  a.run.twins.source = twins;
  find_twins(a.run.twins, args);
  a.run.command = "rnicsim run";
  for (const std::string& word : args) a.run.command += ' ' + quoted(word);
  if (a.sweep.jobs == 0) throw ConfigError("run: --jobs must be 1 or more");
  a.sweep.resume = given.count("resume") != 0;
  a.sweep.collect = given.count("collect") != 0;
  a.sweep.kept = parse_kept(kept);
  if (!share.empty()) a.sweep.share = parse_share(share);
  for (const char* option : {"resume", "share", "collect"}) {
    if (arguments.point() && given.count(option) != 0)
      throw ConfigError(fmt::format("run: --{} is for all points of a sweep, --point for one", option));
  }
  if (a.sweep.collect && !share.empty()) throw ConfigError("run: --collect is for all shares of a sweep, not --share");
  a.run.options.stop_requested = [] { return interruption() != 0; };
  catch_interruptions();
  const Assignments assigned(a.config);
  const Scenario scenario = read_scenario(a.config.scenario, assigned.scenario);
  const Overlay& command_line = assigned.settings;
  if (arguments.lists_scopes()) {
    const Scenario one = scenario.sweep.empty() ? scenario : point_of(scenario, arguments.point().value_or(0));
    return list_scopes(one, command_line, out);
  }
  if (!scenario.sweep.empty()) return run_swept(scenario, command_line, a, arguments.point(), given, out, err);
  for (const char* option : {"point", "jobs", "resume", "share", "collect", "keep-points"}) {
    if (given.count(option) != 0 && !given[option].defaulted())
      throw ConfigError(fmt::format("run: --{} needs a scenario with a sweep", option));
  }
  return run_one(scenario, command_line, a.run, out, err);
}

}  // namespace rnic::cli
