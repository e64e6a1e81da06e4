// What the associations of a chip share: settings, memory, and who waits for what. See sctp_association.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/drops.h"
#include "model/common/ring.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/association_context.h"
#include "model/rnic/llp/sctp/ids.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/rfc9260.h"
#include "model/rnic/llp/sctp/sctp_association_counters.h"
#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/rnic/llp/sctp/segment_delivery.h"
#include "model/rnic/llp/sctp/stream_qps.h"
#include "model/rnic/llp/sctp/window_trace.h"
#include "model/rnic/llp/transmit_memory.h"
#include "model/rnic/messages/llp_firmware.h"
#include "model/rnic/messages/sctp.h"
#include "model/stats/high_water.h"

namespace rnic::sctp {

// Timers of an association: those of its set-up, then these.
inline constexpr std::uint32_t kT3 = kSetupTimers, kSackDelay = kT3 + 1, kIdle = kT3 + 2, kTimers = 8;

struct Engine {
  // Flows from `first_flow` on are the streams.
  Engine(ClockDomain& clk, const SctpConfig& config, std::uint32_t mtu, const DatapathConfig& datapath,
         const LinkAddress& station, std::uint32_t first_flow, BufferPool& pool, PushPort<StreamBeat>& behind,
         Drops& drops);
  // The keys continue, so that no earlier packet fits a later association.
  void reset();

  Cycle now() const { return clk.now(); }
  // Numbers.
  StreamIndex index_of(AssociationId a, std::uint32_t stream) const {
    return StreamIndex{a.v * config.streams + stream};
  }
  FlowId flow_of(StreamIndex stream) const { return FlowId{first_flow + stream.v}; }
  FlowId flow_of(AssociationId a, std::uint32_t stream) const { return flow_of(index_of(a, stream)); }
  AssociationId association_of(StreamIndex stream) const { return AssociationId{stream.v / config.streams}; }
  AssociationId association_of(FlowId flow) const { return association_of(StreamIndex{flow.v - first_flow}); }
  std::uint16_t stream_of(FlowId flow) const {
    return static_cast<std::uint16_t>((flow.v - first_flow) % config.streams);
  }
  std::uint32_t timer(AssociationId a, std::uint32_t which) const { return a.v * kTimers + which; }

  AssociationContext& context(AssociationId a) { return *contexts[a.v]; }
  StreamContext& stream(StreamIndex stream) {
    return context(association_of(stream)).stream[stream.v % config.streams];
  }
  // The life of a flow: an operation on it must name it.
  std::uint16_t life(FlowId flow) const {
    const auto& c = contexts[association_of(flow).v];
    return c ? c->stream[stream_of(flow)].life : std::uint16_t{0};
  }
  // A packet without a segment belongs to the association.
  RequestId owner(AssociationId a) const {
    return {station.node, RequestId::Kind::kFlow, flow_of(a, 0).v, contexts[a.v]->life, 0};
  }
  // The receiving side works for so long; packets wait meanwhile.
  void charge(Cycle cycles) { busy_until = std::max(busy_until, now()) + cycles; }
  // A chunk of user data, in the transmit memory.
  void keep(FlowId flow, std::uint32_t octets) {
    if (memory != nullptr) memory->keep(flow, octets, 1);
  }
  void give_back(FlowId flow, std::uint32_t octets) {
    if (memory != nullptr) memory->give_back(flow, octets, 1);
  }
  // A connect that fails.
  void refuse(std::uint32_t cookie, fw::OpenFailure reason) {
    events.push(LlpEvent(fw::SctpOpenFailed{cookie, reason}));
  }
  // A packet of set-up or shutdown.
  void answer(const Outcome& outcome, std::uint32_t peer_ip, const wire::MacAddress& mac, RequestId owner);

  const ClockDomain& clk;
  const SctpConfig config;
  const LinkAddress station;
  const std::uint32_t first_flow, mtu, packet_limit;
  BufferPool& pool;
  BufferPool large{kLargeBlockBytes};  // for fragmented messages that are longer than ours
  const Rfc9260 congestion;
  const SenderSettings sender_settings;
  const ReceiverSettings receiver_settings;
  const StreamLimits stream_limits;
  const Cycle idle_limit;
  Drops& drops;
  Endpoint endpoint;
  FragmentMemory fragments;
  llp::TransmitMemory* memory = nullptr;  // the segmenter has taken room for segments; without one it has taken none
  std::vector<std::unique_ptr<AssociationContext>> contexts;  // made when the number is first used
  HighWater in_service;                                       // of them
  StreamQps qps;
  llp::IdTable<AssociationId> table;
  IdQueue<AssociationId> free, sends, idle;
  IdQueue<StreamIndex> credits, acks;
  TimerWheel timers;  // all that timer() numbers
  llp::SlotPool<SentMessage> sent{{"sent", contexts.size() * std::size_t{config.send_chunks},
                                   "sctp.max_associations x sctp.send_chunks", PoolLimit::kPeer}};
  SegmentDelivery delivery;
  Ring<LlpEvent> events;
  Ring<SctpPacket> answers;  // of set-up and shutdown
  Cycle busy_until = 0;      // of the receiving side
  Outcome outcome, second;   // of an input; of its consequences
  DataPacket packet;
  SctpAssociationCounters counters;
  WindowTrace windows;
};

}  // namespace rnic::sctp
