#include "model/cli/run_command.h"

#include <ostream>

#include <fmt/format.h>

#include "model/cli/attached_twins.h"
#include "model/cli/command.h"
#include "model/cli/external_run.h"
#include "model/cli/options.h"
#include "model/cli/progress.h"
#include "model/common/check.h"
#include "model/system/simulation.h"

namespace rnic::cli {

namespace po = boost::program_options;

namespace {

// "12us", "1.5ms", "800ns", "40ps"; a bare number is picoseconds.
std::uint64_t parse_time(const std::string& text, const char* option) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(used);
  const double scale = unit.empty() || unit == "ps" ? 1
                       : unit == "ns"               ? 1e3
                       : unit == "us"               ? 1e6
                       : unit == "ms"               ? 1e9
                       : unit == "s"                ? 1e12
                                                    : 0;
  if (value < 0 || scale == 0 || value * scale > 1e19) {
    throw ConfigError(fmt::format("{}: '{}' is not a time such as 12us (ps, ns, us, ms or s)", option, text));
  }
  return static_cast<std::uint64_t>(value * scale);
}

std::uint16_t parse_port(int port) {
  if (port < 0 || port > UINT16_MAX) throw ConfigError(fmt::format("--gdb: {} is no TCP port", port));
  return static_cast<std::uint16_t>(port);
}

struct Arguments {
  ConfigOptions config;
  RunOptions run;
  std::string wave_from, wave_to;
  TwinOptions twins;
};

// Above this share a resource limits the run; what remains are gaps at its start and end.
constexpr double kSaturated = 0.95;

std::string binding_text(const Utilization& busiest) {
  const std::string load = fmt::format("{} ({:.1f} % busy)", busiest.resource, 100 * busiest.share);
  if (busiest.share >= kSaturated) return "binds: " + load;
  return fmt::format("nothing is saturated (none above {:.0f} %); busiest: {}", 100 * kSaturated, load);
}

int report(const Simulation& sim, const AttachedTwins& twins, RunEnd end, std::ostream& out, std::ostream& err) {
  out << workload::results_table(sim.results(), sim.cycle_ps()) << '\n';
  bool passed = end == RunEnd::kDone;
  for (const CheckResult& c : sim.checks()) {
    out << fmt::format("check {}: {} ({})\n", c.name, c.passed ? "passed" : "FAILED", c.text);
    passed &= c.passed;
  }
  out << binding_text(sim.utilization().front()) << '\n';
  const double cpu = sim.cpu_seconds();
  out << fmt::format("simulated {} in {:.2f} s of processor time, {} frames, seed {}{}\n", time_text(sim.now_ps()), cpu,
                     sim.frames(), sim.seed(),
                     sim.fault_seed() ? fmt::format(", faults of seed {}", *sim.fault_seed()) : "");
  out << fmt::format("files: {}\n", fmt::join(sim.files(), ", "));
  for (const std::string& e : sim.errors()) err << "rnicsim: " << e << '\n';
  if (end != RunEnd::kHung && end != RunEnd::kTimeLimit) return passed ? kOk : kCheckFailed;
  err << fmt::format("rnicsim: {} at {}; who waits for whom:\n{}",
                     end == RunEnd::kHung ? "nothing moves any more" : "time limit reached", time_text(sim.now_ps()),
                     sim.waiting_for() + twins.waiting_for());
  return kHung;
}

}  // namespace

int run_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err, const TwinSource* twins) {
  Arguments a;
  po::options_description options("options");
  po::positional_options_description positional;
  auto add = options.add_options();
  add("help,h", "this text");
  add("out", po::value(&a.run.out_dir)->value_name("dir")->default_value("out"), "folder for what the run leaves");
  add("no-capture", "do not write wire.pcapng");
  add("trace", po::value(&a.run.trace_file)->value_name("file"),
      "transaction log: what happened to whom, line by line, in the order of time");
  add("wave", po::value(&a.run.wave_file)->value_name("file"), "waveform of the chips' links: .fst or .vcd");
  add("wave-scope", po::value(&a.run.wave_window.scopes)->value_name("scope"),
      "dump this scope and all below it, e.g. rnic_a.tx; may be repeated");
  add("wave-from", po::value(&a.wave_from)->value_name("time"), "start of the waveform, e.g. 10us");
  add("wave-to", po::value(&a.wave_to)->value_name("time"), "its end");
  add("rtl", po::value(&a.twins.rtl)->value_name("stages"),
      "run with the SystemVerilog twins of these stages in their places: all, or names separated by commas");
  add("lockstep", po::value(&a.twins.lockstep)->value_name("stages"),
      "run these stages beside their twins, and stop at the first difference");
  add("gdb", po::value<int>()->value_name("port"),
      "wait on this port of 127.0.0.1 for gdb to debug the RV32 firmware; 0 chooses one");
  a.config.add_to(options, positional);
  const po::variables_map given = parse_options(args, options, positional);
  if (given.count("help") != 0) {
    out << "usage: rnicsim run SCENARIO [options]\n\n" << options;
    return kOk;
  }
  if (a.config.scenario.empty()) throw ConfigError("run: which scenario? traces/quickstart.json is a good start");
  a.run.capture = given.count("no-capture") == 0;
  if (!a.wave_from.empty()) a.run.wave_window.from_ps = parse_time(a.wave_from, "--wave-from");
  if (!a.wave_to.empty()) a.run.wave_window.to_ps = parse_time(a.wave_to, "--wave-to");
  if (a.run.wave_file.empty() && (given.count("wave-scope") || given.count("wave-from") || given.count("wave-to"))) {
    throw ConfigError("run: --wave-scope, --wave-from and --wave-to need --wave FILE");
  }
  if (a.run.wave_window.from_ps >= a.run.wave_window.to_ps) {
    throw ConfigError("run: the window of --wave-from and --wave-to ends before it begins");
  }
  if (given.count("gdb") != 0) a.run.gdb_port = parse_port(given["gdb"].as<int>());
  a.twins.source = twins;
  Overlay command_line;
  for (const std::string& assignment : a.config.set) command_line.set(assignment);

  const Scenario scenario = read_scenario(a.config.scenario);
  if (scenario.has_external_peer()) return run_external(scenario, command_line, a.run, a.twins, out, err);
  Simulation sim(scenario, command_line, a.run);
  const AttachedTwins attached(sim.chips(), a.twins);
  if (sim.gdb_port()) err << fmt::format("rnicsim: gdb: target remote 127.0.0.1:{}\n", *sim.gdb_port()) << std::flush;
  Progress progress;
  RunEnd end = RunEnd::kFailed;
  try {
    end = sim.run(
        [&progress](std::uint64_t now, std::uint64_t done, std::uint64_t total) { progress.update(now, done, total); });
  } catch (const std::exception&) {
    if (attached.parted() == nullptr) throw;
  }
  progress.finish();
  sim.write_outputs(end);
  if (attached.parted() != nullptr) return attached.report_difference(a.run.out_dir, err);
  return report(sim, attached, end, out, err);
}

}  // namespace rnic::cli
