#include "model/cli/run_command.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "model/cli/command.h"
#include "model/cli/interruption.h"
#include "model/cli/one_run.h"
#include "model/cli/options.h"
#include "model/cli/output_options.h"
#include "model/cli/rtl_program.h"
#include "model/cli/sweep_run.h"
#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/rnic/fwcpu/firmware_target.h"
#include "model/rnic/twins.h"
#include "model/system/scenario_assignment.h"
#include "model/system/scenario_config.h"

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
  std::optional<std::size_t> point;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool resume = false;
};

std::string crc_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* const octets = reinterpret_cast<const std::uint8_t*>(text.data());
  return fmt::format("{:08x}", crc32c(ByteSpan(octets, text.size())));
}

// What the results of a sweep come from: the program, the scenario and the command line.
nlohmann::ordered_json origin_of(const Arguments& a) {
  return {{"program", crc_of("/proc/self/exe")},
          {"scenario", crc_of(a.config.scenario)},
          {"set", a.config.set},
          {"rtl", a.run.twins.rtl},
          {"lockstep", a.run.twins.lockstep}};
}

// The RV32 images that the nodes run, by their contents.
nlohmann::ordered_json images_of(const ScenarioConfig& config) {
  nlohmann::ordered_json images = nlohmann::ordered_json::array();
  for (const SystemConfig& node : config.nodes) {
    const FwCpuConfig& fwcpu = node.rnic.fwcpu;
    if (fwcpu.target == FirmwareTargetKind::kRv32) {
      images.push_back(crc_of(fwcpu.image.empty() ? built_rv32_image() : fwcpu.image));
    }
  }
  return images;
}

// One point as a run of its own, or all of them: then every point's settings are read before any point is run.
int run_swept(const Scenario& scenario, const Overlay& command_line, const Arguments& a, const po::variables_map& given,
              std::ostream& out, std::ostream& err) {
  if (a.point) {
    if (*a.point >= scenario.sweep.points()) {
      throw ConfigError(
          fmt::format("run: --point {}: the sweep has points 0 to {}", *a.point, scenario.sweep.points() - 1));
    }
    out << fmt::format("point {}: {}\n", *a.point, scenario.sweep.text(*a.point));
    return run_one(at_point(scenario, *a.point), command_line, a.run, out, err);
  }
  for (const char* option : {"trace", "db", "perfetto", "wave", "gdb"}) {
    if (given.count(option) != 0)
      throw ConfigError(fmt::format("run: --{} applies to one point of a sweep only; use --point", option));
  }
  for (const SweepAxis& axis : scenario.sweep.axes) {
    if (command_line.find(axis.key) != nullptr || scenario.assigned.find(axis.key) != nullptr) {
      throw ConfigError(fmt::format("--set {}: is varied by the sweep; --point runs one of its points", axis.key));
    }
  }
  SweepOptions sweep{a.run.options.out_dir, a.jobs, a.resume, origin_of(a), {}};
  for (std::size_t i = 0; i < scenario.sweep.points(); ++i) {
    sweep.images.push_back(images_of(resolve_scenario(at_point(scenario, i), command_line)));
  }
  const auto run = [&](std::size_t point, const std::string& dir, std::ostream& report, std::ostream& errors) {
    OneRun one = a.run;
    one.options.out_dir = dir;
    one.options.capture = false;
    one.shows_progress = false;
    return run_one(at_point(scenario, point), command_line, one, report, errors);
  };
  return run_sweep(scenario, sweep, run, out, err);
}

}  // namespace

int run_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins) {
  Arguments a;
  po::options_description options("options");
  po::positional_options_description positional;
  auto add = options.add_options();
  add("help,h", "this text");
  add("out", po::value(&a.run.options.out_dir)->value_name("dir")->default_value("out"),
      "folder for the outputs of the run");
  add("no-capture", "do not write wire.pcapng");
  OutputOptions outputs(a.run.options);
  outputs.add_to(options);
  add("rtl", po::value(&a.run.twins.rtl)->value_name("stages"),
      "run with the SystemVerilog twins of these stages in their places: all, or names separated by commas");
  add("lockstep", po::value(&a.run.twins.lockstep)->value_name("stages"),
      "run these stages beside their twins, and stop at the first difference");
  add("lockstep-inside", "with --lockstep: a difference also writes a waveform of the signals inside the twin");
  add("gdb", po::value<int>()->value_name("port"),
      "wait on this port of 127.0.0.1 for gdb to debug the RV32 firmware; 0 chooses one");
  add("point", po::value<std::size_t>()->value_name("n"),
      "of a sweep: run this point only, as a scenario without a sweep");
  add("jobs", po::value(&a.jobs)->value_name("n"),
      "of a sweep: points that run at a time; all processors unless given");
  add("resume", "of a sweep: continue an earlier one in the same folder, without its finished points");
  a.config.add_to(options, positional,
                  "overrides one setting of all nodes (rnicsim config --list), of one node "
                  "(nodes.a.rnic.fwcpu.max_ord=4), or a value of the scenario by the name of its connection, work item "
                  "or check (connections.c0.ord=8, work.write0.depth=32); may be repeated");
  const po::variables_map given = parse_options(args, options, positional);
  if (given.count("help") != 0) {
    out << "usage: rnicsim run SCENARIO [options]\n\n" << options;
    return kOk;
  }
  if (a.config.scenario.empty()) throw ConfigError("run: which scenario? traces/quickstart.json is a good start");
  a.run.options.capture = given.count("no-capture") == 0;
  outputs.read("run", given);
  if (given.count("gdb") != 0) a.run.options.gdb_port = parse_port(given["gdb"].as<int>());
  a.run.twins.inside = given.count("lockstep-inside") != 0;
  if (a.run.twins.inside && a.run.twins.lockstep.empty()) throw ConfigError("run: --lockstep-inside needs --lockstep");
  if (a.run.twins.inside && (twins == nullptr || !twins->shows_inside())) {
    become_rtl_program("run", args, RtlProgram::kInside);
  }
  if (a.run.twins.any() && twins == nullptr) become_rtl_program("run", args);
  a.run.twins.source = twins;
  if (given.count("point") != 0) a.point = given["point"].as<std::size_t>();
  if (a.jobs == 0) throw ConfigError("run: --jobs must be 1 or more");
  a.resume = given.count("resume") != 0;
  if (a.resume && a.point) throw ConfigError("run: --resume is for all points of a sweep, --point for one");
  a.run.options.stop_requested = [] { return interruption() != 0; };
  catch_interruptions();
  Overlay assigned;
  for (const std::string& assignment : a.config.set) assigned.set(assignment);
  const Scenario scenario = read_scenario(a.config.scenario, scenario_values(assigned));
  const Overlay command_line = settings_of_all(assigned);
  if (!scenario.sweep.empty()) return run_swept(scenario, command_line, a, given, out, err);
  for (const char* option : {"point", "jobs", "resume"}) {
    if (given.count(option) != 0) throw ConfigError(fmt::format("run: --{} needs a scenario with a sweep", option));
  }
  return run_one(scenario, command_line, a.run, out, err);
}

}  // namespace rnic::cli
