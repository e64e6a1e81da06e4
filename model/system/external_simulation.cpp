#include "model/system/external_simulation.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/programs/consumer/make_consumer.h"
#include "model/stats/report.h"
#include "model/system/node.h"
#include "model/system/scenario_assignment.h"
#include "model/system/scenario_config.h"
#include "model/system/stats_report.h"

namespace rnic {
namespace {

// The state of the run is looked at once in the first, and whether somebody wants it to stop once in the second.
constexpr std::uint64_t kAdvancePs = 1'000'000'000, kPeerStepPs = 10'000'000;

}  // namespace

ExternalSimulation::ExternalSimulation(const Scenario& scenario, const Overlay& command_line, const RunOptions& options)
    : scenario_(scenario), options_(options) {
  if (options_.gdb_port) throw ConfigError("--gdb does not go with an external peer");
  build(command_line);
  build_programs();
  peer_ = external::open_external_peer(config_.external);
  outputs_ = std::make_unique<RunOutputs>(options_, std::vector<RunOutputs::Station>{{name_, node_.get()}}, *cable_);
  register_stats();
}

ExternalSimulation::~ExternalSimulation() = default;

std::vector<Rnic*> ExternalSimulation::chips() { return {&node_->chip}; }

// The chip's cable ends at the network device, which has the wire's end 0.
void ExternalSimulation::build(const Overlay& command_line) {
  const ScenarioNode& self = scenario_.nodes[scenario_.nodes[0].external ? 1 : 0];
  const ScenarioNode& peer = scenario_.nodes[scenario_.nodes[0].external ? 0 : 1];
  config_ = resolve_scenario(scenario_, command_line).nodes[scenario_.nodes[0].external ? 1 : 0];
  draw_keys(config_, 0);
  name_ = self.name;
  const StationConfig station{{self.mac}, {self.ip}, {{{peer.ip}, {peer.mac}}}};
  node_ = std::make_unique<Node>(name_.c_str(), NodeConfig{config_.rnic, config_.host}, station);
  node_->set_lookahead(config_.link.delay_ns);
  if (config_.sim.shuffle_seed != 0) node_->shuffle(config_.sim.shuffle_seed);
  node_->set_run_ahead(config_.sim.run_ahead);
  netdev_ = std::make_unique<external::Netdev>("netdev", station);
  node_->chip.mac_tx.ethernet.socket.bind(netdev_->from_chip().socket);
  netdev_->to_chip.socket.bind(node_->chip.mac_rx.socket);
  wire_ = std::make_unique<external::WireEnd>("wire", [this](ByteSpan frame) { peer_->deliver(frame); });
  cable_ = std::make_unique<EthernetLink>("cable", config_.link);
  faults_ = std::make_unique<CableFaults>(config_.link, config_.sim.seed);
  faults_->attach(*cable_, 0, netdev_->to_wire, netdev_->from_wire());
  faults_->attach(*cable_, 1, wire_->transmitter, wire_->receiver());
}

void ExternalSimulation::build_programs() {
  for (const consumer::ProgramSpec& spec : scenario_.programs) {
    programs_.push_back(consumer::make_consumer(node_->context, spec));
  }
}

std::uint64_t ExternalSimulation::now_ps() const {
  return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
}

ExternalSimulation::End ExternalSimulation::run() {
  const auto begin = std::chrono::steady_clock::now();
  End end = End::kDone;
  try {
    while (!step(end)) {
    }
  } catch (const external::PeerError& error) {
    end = stop_requested() ? End::kInterrupted : End::kFailed;  // a signal wakes who waits for the peer
    if (end == End::kFailed) peer_error_ = error.what();
  }
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return end;
}

// A slice of time. True at the run's end: a peer that is done leaves by itself, the others are left to themselves.
bool ExternalSimulation::step(End& end) {
  const std::uint64_t until_ps = (now_ps() / kAdvancePs + 1) * kAdvancePs;
  while (now_ps() < until_ps && !stop_requested()) {
    outputs_->follow(now_ps());
    peer_->advance(std::min(until_ps, now_ps() + kPeerStepPs), *wire_);
  }
  outputs_->advance(now_ps());
  if (netdev_->counters().echo_answers != 0) {
    for (const auto& p : programs_) p->pinged();
  }
  const auto done = [](const auto& p) { return p->done(); };
  if (!errors().empty()) return end = End::kFailed, true;
  const bool all_done = std::all_of(programs_.begin(), programs_.end(), done);
  if (!all_done) done_ps_ = now_ps();
  if (all_done && now_ps() - done_ps_ >= config_.external.linger_us * 1'000'000) return end = End::kDone, true;
  if (stop_requested()) return end = all_done ? End::kDone : End::kInterrupted, true;
  if (peer_->gone()) return end = all_done ? End::kDone : End::kPeerGone, true;
  const std::uint64_t limit_ps = config_.sim.max_time_us * 1'000'000;
  if (limit_ps != 0 && now_ps() >= limit_ps) return end = all_done ? End::kDone : End::kTimeLimit, true;
  return false;
}

std::vector<std::string> ExternalSimulation::errors() const {
  std::vector<std::string> errors;
  for (const auto& p : programs_) {
    if (!p->error().empty()) errors.push_back(p->error());
  }
  if (!peer_error_.empty()) errors.push_back("the peer: " + peer_error_);
  for (std::string& fault : outputs_->firmware_faults()) errors.push_back(std::move(fault));
  return errors;
}

std::string ExternalSimulation::waiting_for() const {
  std::string text;
  for (const auto& p : programs_) {
    if (!p->done()) text += p->waiting_for() + '\n';
  }
  return text;
}

void ExternalSimulation::register_stats() {
  const StatsGroup root(stats_);
  for (unsigned direction = 0; direction < 2; ++direction) {
    const FaultCounters* const counters = faults_->counters(direction);
    if (counters != nullptr) root.group(direction == 0 ? "link.forward" : "link.reverse").counters(*counters);
  }
  register_node(root.group(name_), *node_);
  root.group(name_ + ".netdev").counters(netdev_->counters());
  root.derived(
      "external.lost", [this] { return static_cast<double>(peer_->lost()); }, "frames",
      "frames lost, as the peer did not read them");
}

void ExternalSimulation::write_outputs(End end) {
  static constexpr const char* kEnds[] = {"done", "failed", "peer gone", "time limit", "interrupted"};
  outputs_->close(now_ps());
  outputs_->write_firmware();
  nlohmann::ordered_json j;
  j["scenario"] = scenario_.name;
  j["end"] = kEnds[static_cast<unsigned>(end)];
  j["complete"] = end == End::kDone;
  j["versions"] = versions_json();
  j["seed"] = config_.sim.seed;
  if (!scenario_.assigned.settings().empty()) j["assigned"] = values_json(scenario_.assigned);
  j["digest"] = fmt::format("{:016x}", outputs_->digest());
  j["sim_time_ps"] = now_ps();
  j["wall_s"] = wall_seconds_;
  j["frames"] = frames();
  for (const auto& p : programs_) {
    const consumer::Consumer::Record& r = p->record();
    j["programs"].push_back({{"name", p->spec().name},
                             {"done", p->done()},
                             {"rounds", r.rounds},
                             {"bytes", r.bytes},
                             {"refused", r.refused},
                             {"first_ps", r.first_ps},
                             {"last_ps", r.last_ps},
                             {"error", p->error()}});
  }
  j["config"][name_] = dump_system(config_);
  if (!write_failures().empty()) j["not_written"] = write_failures();
  j["stats"] = to_json(stats_);
  outputs_->write("stats.json", j.dump(2) + '\n');
}

}  // namespace rnic
