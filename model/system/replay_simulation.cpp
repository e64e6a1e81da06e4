#include "model/system/replay_simulation.h"

#include <algorithm>
#include <systemc>
#include <utility>

#include <fmt/format.h>

#include "model/system/node.h"

namespace rnic {

namespace {

constexpr std::uint64_t kSlicePs = 50'000'000;
// Longer than any timer of the chip that a replay waits for, retransmissions excepted.
constexpr std::uint64_t kStallPs = 20'000'000'000;

constexpr wire::MacAddress kModelMac{{2, 0, 0, 0, 0, 1}}, kPeerMac{{2, 0, 0, 0, 0, 2}};
constexpr wire::Ipv4Address kModelIp{0x0a000001}, kPeerIp{0x0a000002};

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

ReplaySimulation::ReplaySimulation(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line)
    : scripts_(std::move(scripts)) {
  std::uint16_t mss = 536;
  for (const auto& script : scripts_) mss = std::max(mss, script->model_mss);
  config_ = resolve_system(generous(mss).with(command_line));
  node_ = std::make_unique<Node>("model", NodeConfig{config_.rnic, config_.host},
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
}

ReplaySimulation::~ReplaySimulation() = default;

replay::Comparison ReplaySimulation::run() {
  std::uint64_t progress = 0, moved_ps = 0;
  while (!program_->done()) {
    sc_core::sc_start(sc_core::sc_time::from_value(kSlicePs));
    if (!program_->error().empty()) throw ConfigError(program_->error());
    const auto now = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
    if (const std::uint64_t p = program_->progress(); p != progress) progress = p, moved_ps = now;
    if (now - moved_ps < kStallPs) continue;
    moved_ps = now;
    if (!program_->forgive()) program_->give_up();
  }
  replay::Comparison comparison;
  for (const replay::Outcome& outcome : program_->outcomes()) replay::compare(outcome, comparison);
  return comparison;
}

}  // namespace rnic
