#include "model/system/workload_programs.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/system/stats_report.h"

namespace rnic {

WorkloadPrograms::WorkloadPrograms(System& system, const Scenario& scenario, const std::vector<SystemConfig>& nodes)
    : scenario_(scenario), clock_period_ps_(system.config().rnic.clock_period_ps) {
  if (scenario_.nodes.size() != 2) {
    throw ConfigError(fmt::format("{}: nodes: {} nodes; a run joins exactly two by one cable", scenario_.file,
                                  scenario_.nodes.size()));
  }
  build_nodes(system, nodes);
  build_workload(system);
}

WorkloadPrograms::~WorkloadPrograms() = default;

void WorkloadPrograms::build_nodes(System& system, const std::vector<SystemConfig>& configs) {
  for (unsigned i = 0; i < 2; ++i) {
    const ScenarioNode& n = scenario_.nodes[i];
    const ScenarioNode& peer = scenario_.nodes[1 - i];
    SystemConfig node = configs[i];
    draw_keys(node, i);
    system.add_node(n.name, peer.name, std::move(node), {{n.mac}, {n.ip}, {{{peer.ip}, {peer.mac}}}});
  }
  Cable& cable = system.lay_cable();
  if (!scenario_.injections.empty()) {
    injector_ = std::make_unique<inject::ErrorInjector>("inject", scenario_.injections);
    injector_->tell(cable);
  }
  for (unsigned i = 0; i < 2; ++i) {
    Node& node = *system.stations()[i].node;
    const EthernetPort port = node.ports()[0];
    system.world().join(node, 0, injector_ ? injector_->before(i, port) : port, cable, i);
  }
}

// What the cable does to the payload that a station sends.
workload::TcpPath WorkloadPrograms::path_from(const System& system, std::size_t station) const {
  const EthernetLinkConfig& link = system.config().link;
  const FaultConfig& there = station == 0 || link.symmetric ? link.forward : link.reverse;
  const FaultConfig& back = station == 1 || link.symmetric ? link.forward : link.reverse;
  const auto delay_ns = [](const FaultConfig& f) { return f.delay.ns + f.delay.jitter_ns / 2; };
  workload::TcpPath path;
  path.congestion = system.stations()[station].config.rnic.tcp.congestion;
  path.loss = there.loss.ppm * 1e-6 + (there.loss.every == 0 ? 0 : 1.0 / static_cast<double>(there.loss.every));
  path.rtt_ns = 2 * link.delay_ns + delay_ns(there) + delay_ns(back);
  path.window_bytes = system.stations()[1 - station].config.rnic.tcp.window_bytes;
  if (scenario_.plan.transport == host::Transport::kSctp) {
    path.congestion = tcp::CongestionAlgorithm::kNewReno;  // RFC 9260 section 7 halves as it does
    path.window_bytes = system.stations()[1 - station].config.rnic.sctp.receive_buffer;
  }
  return path;
}

void WorkloadPrograms::build_workload(const System& system) {
  workload::Plan plan = scenario_.plan;
  plan.seed = system.config().sim.seed;
  std::vector<workload::HostNode> hosts;
  for (std::size_t i = 0; i < 2; ++i) {
    hosts.push_back({&system.stations()[i].node->context, scenario_.nodes[i].ip, path_from(system, i),
                     system.stations()[i].config.rnic.fwcpu.max_setups});
  }
  const RnicConfig& rnic = system.config().rnic;
  workload::WireParams wire;
  wire.rate_gbps = rnic.mac_tx.line_gbps;
  wire.mtu = rnic.tcp.mtu;
  wire.transport = plan.transport;
  wire.bundle_reserve = rnic.sctp.bundle_reserve;
  if (rnic.tcp.timestamps) wire.tcp_option_bytes = wire::TcpOptions::kTimestampsSpace;
  workload_ = std::make_unique<workload::Workload>(plan, hosts, wire);
  for (const auto& phase : plan.phases) {
    for (const workload::WorkItem& item : phase) {
      const std::uint64_t directions = item.direction == workload::Direction::kBoth ? 2 : 1;
      for (const unsigned c : item.connections) total_ += directions * item.count * plan.connections[c].qps;
    }
  }
}

RunEnd WorkloadPrograms::conclude(RunEnd end) {
  checks_ = evaluate(scenario_.checks, results(), [this](unsigned connection, unsigned qp, bool from) {
    return workload_->ending(connection, qp, from);
  });
  return end == RunEnd::kDone && injector_ && !injector_->failures().empty() ? RunEnd::kFailed : end;
}

bool WorkloadPrograms::passed() const {
  return std::all_of(checks_.begin(), checks_.end(), [](const CheckResult& c) { return c.passed; });
}

std::string WorkloadPrograms::table() const { return workload::results_table(results(), clock_period_ps_) + '\n'; }

std::string WorkloadPrograms::verdicts() const {
  std::string text;
  for (const CheckResult& c : checks_) {
    text += fmt::format("check {}: {} ({})\n", c.name, c.passed ? "passed" : "FAILED", c.text);
  }
  return text;
}

std::vector<std::string> WorkloadPrograms::errors() const {
  std::vector<std::string> errors = workload_->errors();
  if (injector_ && workload_->done()) {
    for (std::string& failure : injector_->failures()) errors.push_back(std::move(failure));
  }
  return errors;
}

nlohmann::ordered_json WorkloadPrograms::about() const { return scenario_about(scenario_); }

void WorkloadPrograms::add_results(nlohmann::ordered_json& j) const {
  j["results"] = results_json(results(), clock_period_ps_);
  j["checks"] = checks_json(checks_);
}

}  // namespace rnic
