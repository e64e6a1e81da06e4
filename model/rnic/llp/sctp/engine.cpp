#include "model/rnic/llp/sctp/engine.h"

#include <algorithm>
#include <cstring>

#include "model/rnic/llp/rto.h"
#include "model/rnic/llp/sctp/packet.h"

namespace rnic::sctp {
namespace {

// The largest MTU of a peer: its fragmented messages can be that long, as far as they fit the receive buffer.
std::uint32_t peer_mtu(const SctpConfig& config, std::uint32_t mtu) {
  return std::max<std::uint32_t>(mtu, std::min(kLargestMtu, config.receive_buffer / 4 * 3));
}

StreamLimits limits_of(const SctpConfig& config) {
  StreamLimits limits;
  limits.streams = static_cast<std::uint16_t>(config.streams);
  limits.window = static_cast<std::uint16_t>(config.ddp_window);
  limits.held_octets = config.receive_buffer;
  return limits;
}

}  // namespace

Engine::Engine(ClockDomain& clk_, const SctpConfig& config_, std::uint32_t mtu_, const DatapathConfig& datapath,
               const LinkAddress& station_, std::uint32_t first_flow_, BufferPool& pool_, PushPort<StreamBeat>& behind,
               Drops& drops_)
    : clk(clk_),
      config(config_),
      station(station_),
      first_flow(first_flow_),
      mtu(mtu_),
      packet_limit(sctp::packet_limit(mtu)),
      pool(pool_),
      sender_settings(config, congestion, clk.period_ps()),
      receiver_settings(config, peer_mtu(config, mtu), wire::Ipv4Header::kBytes, clk.period_ps()),
      stream_limits(limits_of(config)),
      idle_limit(config.idle_us == 0 ? kNever : llp::RtoLimits::cycles(config.idle_us, clk.period_ps())),
      drops(drops_),
      endpoint(config, clk.period_ps(), packet_limit, config.seed),
      fragments(receiver_settings.fragments, config.max_associations),
      contexts(config.max_associations),
      qps(clk_, FlowId{first_flow}, std::size_t{config.max_associations} * config.streams),
      table(config.max_associations),
      free(config.max_associations),
      sends(config.max_associations),
      idle(config.max_associations),
      credits(std::size_t{config.max_associations} * config.streams),
      acks(std::size_t{config.max_associations} * config.streams),
      timers(std::size_t{config.max_associations} * kTimers),
      delivery(*this, datapath, FlowId{first_flow + config.max_associations * config.streams}, behind) {
  for (std::uint32_t i = 0; i < config.max_associations; ++i) free.push(AssociationId{i});
}

void Engine::reset() {
  const std::size_t associations = contexts.size(), streams = associations * config.streams;
  for (std::unique_ptr<AssociationContext>& c : contexts) {
    if (c) c->receiver.clear(fragments);
    c.reset();
  }
  in_service.level(0);
  qps.reset();
  table = llp::IdTable<AssociationId>(associations);
  free = sends = idle = IdQueue<AssociationId>(associations);
  for (std::uint32_t i = 0; i < associations; ++i) free.push(AssociationId{i});
  credits = acks = IdQueue<StreamIndex>(streams);
  timers = TimerWheel(associations * kTimers);
  sent.reset();
  delivery.reset();
  windows.reset();
  events = {};
  answers = {};
  busy_until = 0;
}

void Engine::answer(const Outcome& result, std::uint32_t peer_ip, const wire::MacAddress& mac, RequestId owner) {
  const ByteSpan octets = result.packet();
  if (octets.empty()) return;
  BufferRef buf = pool.take(owner);
  std::memcpy(buf->bytes() + kFrameHeadroom, octets.data(), octets.size());
  answers.push({std::move(buf), kFrameHeadroom, static_cast<std::uint16_t>(octets.size()), peer_ip, mac});
}

}  // namespace rnic::sctp
