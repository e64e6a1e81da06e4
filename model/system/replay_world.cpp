#include "model/system/replay_world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/system/stats_report.h"
#include "model/wire/ddp_session.h"

namespace rnic {

namespace {

constexpr const char* kNode = "model";

// Longer than any timer of the chip that a replay waits for, retransmissions excepted.
constexpr std::uint64_t kStallPs = 20'000'000'000;

constexpr wire::MacAddress kModelMac{{2, 0, 0, 0, 0, 1}}, kPeerMac{{2, 0, 0, 0, 0, 2}};
constexpr wire::Ipv4Address kModelIp{0x0a000001}, kPeerIp{0x0a000002};

// This makes the model's segments as large as the real ones.
std::size_t mtu_of(const replay::Script& script) {
  if (script.transport == host::Transport::kTcp) {
    return std::max<std::size_t>(script.model_mss, 536) + wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes;
  }
  const std::uint16_t longest = std::max(script.model_mss, script.peer_mss);
  return wire::Ipv4Header::kBytes + wire::SctpHeader::kBytes + SctpConfig{}.bundle_reserve +
         wire::sctp_segment_bytes(longest);
}

// Settings in which the captured devices differ from the model's defaults, or exceed them; the command line may change
// them.
SystemConfig generous(const std::vector<std::unique_ptr<replay::Script>>& scripts, const Overlay& command_line) {
  std::size_t mtu = 0;
  for (const auto& script : scripts) mtu = std::max(mtu, mtu_of(*script));
  Overlay settings;
  settings.set(fmt::format("rnic.tcp.mtu={}", mtu));
  settings.set("rnic.fwcpu.crc=false");  // if the side asked for it, its program does
  settings.set("rnic.fwcpu.max_ird=128");
  settings.set("rnic.fwcpu.max_ord=128");
  settings.set("rnic.context.stags=4096");
  // Each connection keeps a queue pair and two completion queues to the end.
  const auto of_each = [&](const char* key, std::size_t n) {
    settings.set(fmt::format("{}={}", key, std::clamp<std::size_t>(n * scripts.size(), 256, 1024)));
  };
  of_each("rnic.context.qps", 1);
  of_each("rnic.context.cqs", 2);
  return resolve_system(settings.with(command_line));
}

}  // namespace

ReplayWorld::ReplayWorld(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line,
                         const nlohmann::ordered_json& about)
    : World(generous(scripts, command_line)),
      about_(std::make_unique<nlohmann::ordered_json>(about)),
      scripts_(std::move(scripts)) {
  Node& node = *add_station(kNode, "peer", config(), {kModelMac, kModelIp, {{kPeerIp, kPeerMac}}}).node;
  peer_ = std::make_unique<replay::ReplayPeer>("peer", replay::ReplayPeer::Station{kPeerMac, kPeerIp},
                                               replay::ReplayPeer::Station{kModelMac, kModelIp});
  CableFaults& faults = lay_cable();
  faults.attach(cable(), 0, node.chip.mac_tx.ethernet, node.chip.mac_rx);
  faults.attach(cable(), 1, peer_->transmitter, peer_->receiver());
  program_ = std::make_unique<replay::ReplayProgram>(node.context, *peer_, kPeerIp.v, scripts_);
}

ReplayWorld::~ReplayWorld() = default;

bool ReplayWorld::firmware_failed() const { return stations()[0].node->chip.fwcpu.fault().has_value(); }

World::Stall ReplayWorld::stall(std::uint64_t idle_ps, bool) {
  if (idle_ps < kStallPs) return Stall::kWait;
  if (!program_->forgive()) program_->give_up();
  return Stall::kResolved;
}

replay::Comparison ReplayWorld::comparison() const {
  replay::Comparison comparison;
  for (const replay::Outcome& outcome : program_->outcomes()) replay::compare(outcome, comparison);
  return comparison;
}

const std::string& ReplayWorld::host_error() const { return program_->error(); }

std::string ReplayWorld::table() const {
  const replay::Comparison found = comparison();
  std::string text;
  for (const replay::Difference& d : found.differences) {
    text += fmt::format("{}\n  expected  {}\n  got       {}\n  {}\n", d.what, d.expected, d.got,
                        d.explained_by.empty() ? "unexplained" : "explained by " + d.explained_by);
  }
  return text + fmt::format("{} messages, {} matched, {} differences, {} unexplained\n", found.messages, found.matched,
                            found.differences.size(), found.unexplained());
}

std::vector<std::string> ReplayWorld::errors() const {
  return host_error().empty() ? std::vector<std::string>() : std::vector{host_error()};
}

nlohmann::ordered_json ReplayWorld::about() const { return *about_; }

void ReplayWorld::add_results(nlohmann::ordered_json& j) const { j["comparison"] = comparison_json(comparison()); }

}  // namespace rnic
