#include "model/system/replay_simulation.h"

#include <algorithm>
#include <systemc>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/stats/report.h"
#include "model/system/node.h"
#include "model/system/stats_report.h"

namespace rnic {

namespace {

constexpr const char* kNode = "model";

constexpr std::uint64_t kSlicePs = 50'000'000;
// The kernel is entered once for so much simulated time; waveforms and whoever wants to stop are looked at then.
constexpr std::uint64_t kStepPs = 1'000'000;
static_assert(kSlicePs % kStepPs == 0);
// Longer than any timer of the chip that a replay waits for, retransmissions excepted.
constexpr std::uint64_t kStallPs = 20'000'000'000;

constexpr wire::MacAddress kModelMac{{2, 0, 0, 0, 0, 1}}, kPeerMac{{2, 0, 0, 0, 0, 2}};
constexpr wire::Ipv4Address kModelIp{0x0a000001}, kPeerIp{0x0a000002};

std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

// What real devices of the captures have and the model's default settings have less of, or otherwise; the command line
// may change it.
Overlay generous(std::uint16_t mss) {
  Overlay settings;
  settings.set(fmt::format("rnic.tcp.mtu={}", mss + wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes));
  settings.set("rnic.fwcpu.crc=false");  // where the side asked for it, its program does
  settings.set("rnic.fwcpu.max_ird=128");
  settings.set("rnic.fwcpu.max_ord=128");
  settings.set("rnic.context.stags=4096");
  return settings;
}

}  // namespace

ReplaySimulation::ReplaySimulation(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line,
                                   const RunOptions& options)
    : options_(options), scripts_(std::move(scripts)) {
  std::uint16_t mss = 536;
  for (const auto& script : scripts_) mss = std::max(mss, script->model_mss);
  config_ = resolve_system(generous(mss).with(command_line));
  node_ = std::make_unique<Node>(kNode, NodeConfig{config_.rnic, config_.host},
                                 StationConfig{kModelMac, kModelIp, {{kPeerIp, kPeerMac}}});
  node_->set_lookahead(config_.link.delay_ns);
  if (config_.sim.shuffle_seed != 0) node_->shuffle(config_.sim.shuffle_seed);
  node_->set_run_ahead(config_.sim.run_ahead);
  peer_ = std::make_unique<replay::ReplayPeer>("peer", replay::ReplayPeer::Station{kPeerMac, kPeerIp},
                                               replay::ReplayPeer::Station{kModelMac, kModelIp});
  cable_ = std::make_unique<EthernetLink>("cable", config_.link);
  cable_->attach(0, node_->chip.mac_tx.ethernet, node_->chip.mac_rx);
  cable_->attach(1, peer_->transmitter, peer_->receiver());
  program_ = std::make_unique<replay::ReplayProgram>(node_->context, *peer_, kPeerIp.v, scripts_);
  register_node(StatsGroup(stats_, kNode), *node_);
  if (!options_.out_dir.empty() || !options_.trace_file.empty() || !options_.wave_file.empty()) {
    outputs_ = std::make_unique<RunOutputs>(options_, std::vector{RunOutputs::Station{kNode, node_.get()}}, *cable_);
  }
}

ReplaySimulation::~ReplaySimulation() = default;

// False if somebody wants the replay to stop.
bool ReplaySimulation::run_slice() {
  for (std::uint64_t ps = 0; ps < kSlicePs; ps += kStepPs) {
    if (options_.stop_requested && options_.stop_requested()) return false;
    if (outputs_) outputs_->follow(now_ps());
    sc_core::sc_start(sc_core::sc_time::from_value(kStepPs));
  }
  return true;
}

ReplaySimulation::End ReplaySimulation::run() {
  std::uint64_t progress = 0, moved_ps = 0;
  while (!program_->done()) {
    const bool stopped = !run_slice();
    const std::uint64_t now = now_ps();
    if (outputs_) outputs_->advance(now);
    if (!program_->error().empty() || node_->chip.fwcpu.fault()) return End::kFailed;
    if (stopped && !program_->done()) return End::kInterrupted;
    if (const std::uint64_t p = program_->progress(); p != progress) progress = p, moved_ps = now;
    if (now - moved_ps < kStallPs) continue;
    moved_ps = now;
    if (!program_->forgive()) program_->give_up();
  }
  return End::kDone;
}

replay::Comparison ReplaySimulation::comparison() const {
  replay::Comparison comparison;
  for (const replay::Outcome& outcome : program_->outcomes()) replay::compare(outcome, comparison);
  return comparison;
}

const std::string& ReplaySimulation::host_error() const { return program_->error(); }

std::vector<std::string> ReplaySimulation::errors() const {
  if (outputs_) return outputs_->firmware_faults();
  const auto& fault = node_->chip.fwcpu.fault();
  return fault ? std::vector{firmware_fault_text(kNode, fault->reason)} : std::vector<std::string>();
}

std::vector<std::string> ReplaySimulation::files() const {
  return outputs_ ? outputs_->files() : std::vector<std::string>();
}

std::vector<std::string> ReplaySimulation::write_failures() const {
  return outputs_ ? outputs_->failures() : std::vector<std::string>();
}

void ReplaySimulation::write_outputs(End end, nlohmann::ordered_json about) {
  static constexpr const char* kEnds[] = {"done", "failed", "interrupted"};
  if (!outputs_) return;
  outputs_->close(now_ps());
  if (options_.out_dir.empty()) return;
  outputs_->write_firmware();
  nlohmann::ordered_json j = std::move(about);
  j["end"] = kEnds[static_cast<unsigned>(end)];
  j["complete"] = end == End::kDone;
  j["versions"] = versions_json();
  j["seed"] = config_.sim.seed;
  j["digest"] = fmt::format("{:016x}", outputs_->digest());
  j["sim_time_ps"] = now_ps();
  j["frames"] = outputs_->capture().frames();
  if (outputs_->wave_changes()) j["wave_changes"] = *outputs_->wave_changes();
  j["comparison"] = comparison_json(comparison());
  j["errors"] = errors();
  if (!host_error().empty()) j["errors"].push_back(host_error());
  j["config"][kNode] = dump_system(config_);
  if (!write_failures().empty()) j["not_written"] = write_failures();
  j["stats"] = to_json(stats_);
  outputs_->write("stats.json", j.dump(2) + '\n');
}

}  // namespace rnic
