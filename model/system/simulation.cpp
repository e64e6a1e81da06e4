#include "model/system/simulation.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <systemc>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/rnic/fwcpu/gdb/gdb_server.h"
#include "model/rnic/fwcpu/rv32/iss.h"
#include "model/stats/report.h"
#include "model/system/node.h"
#include "model/system/scenario_assignment.h"
#include "model/system/scenario_config.h"
#include "model/system/stats_report.h"

namespace rnic {

namespace {

// A run ends at a multiple of this, unless somebody stops it.
constexpr std::uint64_t kSlicePs = 50'000'000;
// The kernel is entered once for so much simulated time: with all RTL blocks that is some ten milliseconds of work.
constexpr std::uint64_t kStepPs = 1'000'000;
static_assert(kSlicePs % kStepPs == 0);

const char* end_name(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
      return "done";
    case RunEnd::kFailed:
      return "failed";
    case RunEnd::kHung:
      return "hung";
    case RunEnd::kTimeLimit:
      return "time limit";
    case RunEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

// gdb, and the processors that it sees.
struct Simulation::Debugger {
  Debugger(const RunOptions& options, std::vector<GdbSession::Thread> threads)
      : server(*options.gdb_port, options.stop_requested), session(threads, server) {}
  GdbServer server;
  GdbSession session;
};

Simulation::Simulation(const Scenario& scenario, const Overlay& command_line, const RunOptions& options)
    : scenario_(scenario), options_(options) {
  if (scenario_.nodes.size() != 2) {
    throw ConfigError(fmt::format("{}: nodes: {} nodes; a run joins exactly two by one cable", scenario_.file,
                                  scenario_.nodes.size()));
  }
  build_nodes(command_line);
  build_workload();
  open_debugger();
  open_outputs();
  register_stats();
}

Simulation::~Simulation() = default;

std::vector<Rnic*> Simulation::chips() {
  std::vector<Rnic*> chips;
  for (const Station& s : stations_) chips.push_back(&s.node->chip);
  return chips;
}

void Simulation::build_nodes(const Overlay& command_line) {
  const ScenarioConfig config = resolve_scenario(scenario_, command_line);
  config_ = config.run;
  for (std::size_t i = 0; i < 2; ++i) {
    const ScenarioNode& n = scenario_.nodes[i];
    const ScenarioNode& peer = scenario_.nodes[1 - i];
    Station s;
    s.name = n.name;
    s.config = config.nodes[i];
    draw_keys(s.config, i);
    const StationConfig station{{n.mac}, {n.ip}, {{{peer.ip}, {peer.mac}}}};
    s.node = std::make_unique<Node>(n.name.c_str(), NodeConfig{s.config.rnic, s.config.host}, station);
    s.node->set_lookahead(config_.link.delay_ns);
    if (config_.sim.shuffle_seed != 0) s.node->shuffle(config_.sim.shuffle_seed + i);
    s.node->set_run_ahead(config_.sim.run_ahead);
    stations_.push_back(std::move(s));
  }
  cable_ = std::make_unique<EthernetLink>("cable", config_.link);
  faults_ = std::make_unique<CableFaults>(config_.link, config_.sim.seed);
  if (!scenario_.injections.empty()) {
    injector_ = std::make_unique<inject::ErrorInjector>("inject", scenario_.injections);
  }
  for (unsigned i = 0; i < 2; ++i) {
    Rnic& chip = stations_[i].node->chip;
    if (injector_) chip.mac_tx.ethernet.socket.bind(injector_->in(i).socket);
    faults_->attach(*cable_, i, injector_ ? injector_->out(i) : chip.mac_tx.ethernet, chip.mac_rx);
  }
}

// What the cable does to the payload that a station sends.
workload::TcpPath Simulation::path_from(std::size_t station) const {
  const FaultConfig& there = station == 0 || config_.link.symmetric ? config_.link.forward : config_.link.reverse;
  const FaultConfig& back = station == 1 || config_.link.symmetric ? config_.link.forward : config_.link.reverse;
  const auto delay_ns = [](const FaultConfig& f) { return f.delay.ns + f.delay.jitter_ns / 2; };
  workload::TcpPath path;
  path.congestion = stations_[station].config.rnic.tcp.congestion;
  path.loss = there.loss.ppm * 1e-6 + (there.loss.every == 0 ? 0 : 1.0 / static_cast<double>(there.loss.every));
  path.rtt_ns = 2 * config_.link.delay_ns + delay_ns(there) + delay_ns(back);
  path.window_bytes = stations_[1 - station].config.rnic.tcp.window_bytes;
  return path;
}

void Simulation::build_workload() {
  workload::Plan plan = scenario_.plan;
  plan.seed = config_.sim.seed;
  std::vector<workload::HostNode> hosts;
  for (std::size_t i = 0; i < 2; ++i) {
    hosts.push_back({&stations_[i].node->context, scenario_.nodes[i].ip, path_from(i)});
  }
  workload::WireParams wire;
  wire.rate_gbps = config_.rnic.mac_tx.line_gbps;
  wire.mtu = config_.rnic.tcp.mtu;
  if (config_.rnic.tcp.timestamps) wire.tcp_option_bytes = wire::TcpOptions::kTimestampsSpace;
  workload_ = std::make_unique<workload::Workload>(plan, hosts, wire);
  for (const auto& phase : plan.phases) {
    for (const workload::WorkItem& item : phase) {
      const std::uint64_t directions = item.direction == workload::Direction::kBoth ? 2 : 1;
      for (const unsigned c : item.connections) total_ += directions * item.count * plan.connections[c].qps;
    }
  }
}

void Simulation::open_debugger() {
  if (!options_.gdb_port) return;
  std::vector<Iss*> processors;
  std::vector<GdbSession::Thread> threads;
  for (Station& s : stations_) {
    Iss* const iss = s.node->chip.fwcpu.processor();
    if (iss == nullptr) continue;
    processors.push_back(iss);
    threads.push_back({"firmware of " + s.name, iss});
  }
  if (processors.empty()) {
    throw ConfigError("--gdb: the firmware runs natively; a debugger needs --set rnic.fwcpu.target=rv32");
  }
  debugger_ = std::make_unique<Debugger>(options_, threads);
  for (Iss* iss : processors) iss->observe(debugger_->session);
}

std::optional<std::uint16_t> Simulation::gdb_port() const {
  return debugger_ ? std::optional(debugger_->server.port()) : std::nullopt;
}

void Simulation::open_outputs() {
  std::vector<RunOutputs::Station> watched;
  for (const Station& s : stations_) watched.push_back({s.name, s.node.get()});
  outputs_ = std::make_unique<RunOutputs>(options_, watched, *cable_);
}

std::uint64_t Simulation::now_ps() const { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

// False if somebody wants the run to stop.
bool Simulation::run_slice() {
  for (std::uint64_t ps = 0; ps < kSlicePs; ps += kStepPs) {
    if (options_.stop_requested && options_.stop_requested()) return false;
    outputs_->follow(now_ps());
    sc_core::sc_start(sc_core::sc_time::from_value(kStepPs));
    follow_work();
  }
  return true;
}

RunEnd Simulation::run(const ProgressReport& report) {
  if (debugger_ && debugger_->server.accept()) debugger_->session.begin();
  const auto wall_start = std::chrono::steady_clock::now();
  const double cpu_start = processor_seconds();
  const std::uint64_t limit_ps = config_.sim.max_time_us * 1'000'000;
  const std::uint64_t watchdog_ps = config_.sim.watchdog_us * 1'000'000;
  std::uint64_t progress = 0, progress_ps = 0;
  RunEnd end = RunEnd::kDone;
  while (!workload_->done()) {
    const bool stopped = !run_slice();
    const std::uint64_t now = now_ps();
    outputs_->advance(now);
    report(now, workload_->progress(), total_);
    if (debugger_) debugger_->session.poll();
    if (workload_->failed() || (debugger_ && debugger_->session.killed())) {
      end = RunEnd::kFailed;
      break;
    }
    if (stopped && !workload_->done()) {
      end = RunEnd::kInterrupted;
      break;
    }
    if (const std::uint64_t p = workload_->progress(); p != progress) progress = p, progress_ps = now;
    const bool dead = !workload_->done() && !sc_core::sc_pending_activity();
    if (dead || (watchdog_ps != 0 && now - progress_ps >= watchdog_ps)) {
      end = RunEnd::kHung;
      break;
    }
    if (limit_ps != 0 && now >= limit_ps && !workload_->done()) {
      end = RunEnd::kTimeLimit;
      break;
    }
  }
  if (end == RunEnd::kDone && injector_ && !injector_->failures().empty()) end = RunEnd::kFailed;
  if (phase_begin_) end_phase();
  cpu_seconds_ = processor_seconds() - cpu_start;
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  checks_ = evaluate(scenario_.checks, results(), [this](unsigned connection, unsigned qp, bool from) {
    return workload_->ending(connection, qp, from);
  });
  if (debugger_) debugger_->session.end(end == RunEnd::kDone);
  return end;
}

std::vector<std::string> Simulation::errors() const {
  std::vector<std::string> errors = workload_->errors();
  for (std::string& fault : outputs_->firmware_faults()) errors.push_back(std::move(fault));
  if (injector_ && workload_->done()) {
    for (std::string& failure : injector_->failures()) errors.push_back(std::move(failure));
  }
  if (debugger_ && debugger_->session.killed()) errors.push_back("the debugger ended the run");
  return errors;
}

std::string Simulation::waiting_for() const {
  std::string text = workload_->waiting_for();
  for (const Station& s : stations_) {
    for (const ClockDomain* clk : {&s.node->core_clk, &s.node->host_clk}) {
      for (const Stage* stage : clk->stages()) {
        if (const std::string what = stage->waiting_for(); !what.empty()) {
          text += fmt::format("{} waits for {}\n", stage->name(), what);
        }
      }
    }
  }
  return text;
}

Simulation::Busy Simulation::busy() const {
  Busy busy{now_ps(), {}};
  const auto add = [&](std::string resource, double ps) { busy.ps.emplace_back(std::move(resource), ps); };
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    const Station& s = stations_[i];
    const Rnic& chip = s.node->chip;
    const double cycle = static_cast<double>(s.node->core_clk.period_ps());
    const pcie::LinkTiming pcie(s.config.rnic.pcie.link);
    const double octet = static_cast<double>(pcie.ticks_per_octet()) / pcie::LinkTiming::kTicksPerPs;
    add(fmt::format("wire {} to {}", s.name, stations_[1 - i].name),
        static_cast<double>(chip.mac_tx.counters().line_octets) * 8000 / s.config.rnic.mac_tx.line_gbps);
    add("PCIe device to host, " + s.name, static_cast<double>(chip.pcie.endpoint.port.counters().wire_bytes) * octet);
    add("PCIe host to device, " + s.name, static_cast<double>(s.node->root_complex.port.counters().wire_bytes) * octet);
    add("transmit datapath, " + s.name, static_cast<double>(chip.crc_insert.out->pushed()) * cycle);
    add("receive datapath, " + s.name, static_cast<double>(chip.crc_check.out->pushed()) * cycle);
  }
  return busy;
}

// To a step of the kernel exact.
void Simulation::follow_work() {
  if (workload_->working() == phase_begin_.has_value()) return;
  if (phase_begin_) end_phase();
  else phase_begin_ = busy();
}

void Simulation::end_phase() {
  Busy phase = busy();
  phase.time_ps -= phase_begin_->time_ps;
  if (work_) phase.time_ps += work_->time_ps;
  for (std::size_t i = 0; i < phase.ps.size(); ++i) {
    phase.ps[i].second += (work_ ? work_->ps[i].second : 0) - phase_begin_->ps[i].second;
  }
  work_ = std::move(phase);
  phase_begin_.reset();
}

std::vector<Utilization> Simulation::utilization() const {
  std::vector<Utilization> list;
  if (!work_ || work_->time_ps == 0) return list;
  for (const auto& [resource, ps] : work_->ps) list.push_back({resource, ps / static_cast<double>(work_->time_ps)});
  std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.share > y.share; });
  return list;
}

std::optional<std::uint64_t> Simulation::fault_seed() const {
  return faults_->any() ? std::optional(faults_->seed()) : std::nullopt;
}

void Simulation::register_stats() {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const FaultCounters* const counters = faults_->counters(direction);
    if (counters == nullptr) continue;
    StatsGroup(stats_, direction == 0 ? "link.forward" : "link.reverse").counters(*counters);
  }
  for (const Station& s : stations_) register_node(StatsGroup(stats_, s.name), *s.node);
}

nlohmann::ordered_json Simulation::stats_json(RunEnd end) const {
  nlohmann::ordered_json j;
  j["scenario"] = scenario_.name;
  j["end"] = end_name(end);
  j["complete"] = end == RunEnd::kDone;
  j["versions"] = versions_json();
  j["seed"] = config_.sim.seed;
  if (!scenario_.assigned.settings().empty()) j["assigned"] = values_json(scenario_.assigned);
  if (fault_seed()) j["fault_seed"] = *fault_seed();
  j["digest"] = fmt::format("{:016x}", outputs_->digest());
  j["sim_time_ps"] = now_ps();
  j["wall_s"] = wall_seconds_;
  j["cpu_s"] = cpu_seconds_;
  j["frames"] = frames();
  j["frames_per_cpu_s"] = cpu_seconds_ > 0 ? static_cast<double>(frames()) / cpu_seconds_ : 0;
  if (outputs_->wave_changes()) j["wave_changes"] = *outputs_->wave_changes();
  j["results"] = results_json(results(), cycle_ps());
  j["checks"] = checks_json(checks_);
  j["errors"] = errors();
  for (const Utilization& u : utilization()) j["utilization"][u.resource] = u.share;
  for (const Station& s : stations_) j["config"][s.name] = dump_system(s.config);
  if (!write_failures().empty()) j["not_written"] = write_failures();
  j["stats"] = to_json(stats_);
  return j;
}

std::string Simulation::stats_text(RunEnd end) const {
  std::ostringstream text;
  if (end != RunEnd::kDone) text << "incomplete: " << end_name(end) << '\n';
  text << workload::results_table(results(), cycle_ps()) << '\n';
  for (const std::string& e : errors()) text << "error: " << e << '\n';
  write_text(text, stats_);
  return text.str();
}

// What may be large comes first: what there was no room for leaves its room to the rest.
void Simulation::write_outputs(RunEnd end) {
  outputs_->close(now_ps());
  outputs_->write_firmware();
  outputs_->write("stats.txt", stats_text(end));
  outputs_->write("stats.json", stats_json(end).dump(2) + '\n');
}

}  // namespace rnic
