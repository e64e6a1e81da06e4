#include "model/system/replay_programs.h"

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

}  // namespace

SystemConfig ReplayPrograms::settings(const Scripts& scripts, const Overlay& command_line) {
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

ReplayPrograms::ReplayPrograms(System& system, Scripts scripts, const nlohmann::ordered_json& about)
    : about_(std::make_unique<nlohmann::ordered_json>(about)), scripts_(std::move(scripts)) {
  node_ = &system.add_node(kNode, "peer", system.config(), {kModelMac, kModelIp, {{kPeerIp, kPeerMac}}});
  World& world = system.world();
  peer_ = &world.add_device<replay::ReplayPeer>("peer", replay::ReplayPeer::Station{kPeerMac, kPeerIp},
                                                replay::ReplayPeer::Station{kModelMac, kModelIp});
  Cable& cable = system.lay_cable();
  world.join(*node_, 0, cable, 0);
  world.join(*peer_, 0, cable, 1);
  program_ = std::make_unique<replay::ReplayProgram>(node_->context, *peer_, kPeerIp.v, scripts_);
}

ReplayPrograms::~ReplayPrograms() = default;

bool ReplayPrograms::firmware_failed() const { return node_->chip.fwcpu.fault().has_value(); }

Programs::Stall ReplayPrograms::stall(std::uint64_t idle_ps, bool, std::uint64_t) {
  if (idle_ps < kStallPs) return Stall::kWait;
  if (!program_->forgive()) program_->give_up();
  return Stall::kResolved;
}

replay::Comparison ReplayPrograms::comparison() const {
  replay::Comparison comparison;
  for (const replay::Outcome& outcome : program_->outcomes()) replay::compare(outcome, comparison);
  return comparison;
}

const std::string& ReplayPrograms::host_error() const { return program_->error(); }

std::string ReplayPrograms::table() const {
  const replay::Comparison found = comparison();
  std::string text;
  for (const replay::Difference& d : found.differences) {
    text += fmt::format("{}\n  expected  {}\n  got       {}\n  {}\n", d.what, d.expected, d.got,
                        d.explained_by.empty() ? "unexplained" : "explained by " + d.explained_by);
  }
  return text + fmt::format("{} messages, {} matched, {} differences, {} unexplained\n", found.messages, found.matched,
                            found.differences.size(), found.unexplained());
}

std::vector<std::string> ReplayPrograms::errors() const {
  return host_error().empty() ? std::vector<std::string>() : std::vector{host_error()};
}

nlohmann::ordered_json ReplayPrograms::about() const { return *about_; }

void ReplayPrograms::add_results(nlohmann::ordered_json& j) const { j["comparison"] = comparison_json(comparison()); }

}  // namespace rnic
