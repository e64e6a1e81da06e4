// Received messages from their arrival to the pipeline: segments in order leave as FPDU beats, and those after a gap
// are offered to early_placement. See sctp_association.md.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/buffer.h"
#include "model/common/link.h"
#include "model/rnic/llp/sctp/association_context.h"
#include "model/rnic/llp/sctp/beat_emission.h"
#include "model/rnic/llp/sctp/ids.h"
#include "model/rnic/llp/segment_beats.h"
#include "model/rnic/llp/slot_pool.h"
#include "model/rnic/messages/early_placed.h"

namespace rnic::sctp {

struct Engine;

class SegmentDelivery {
 public:
  // Beats on `fence_flow`, which has no stream and no queue pair, follow what ended associations have delivered.
  SegmentDelivery(Engine& engine, const DatapathConfig& datapath, FlowId fence_flow, PushPort<StreamBeat>& behind);
  void reset();
  void describe(const Description& d) const { messages_.describe(d); }

  ReceivedId take() { return ReceivedId{messages_.take()}; }
  ReceivedMessage& operator[](ReceivedId message) { return messages_[message.v]; }
  // In order: it leaves after those before it.
  void append(ReceivedId message) { ready_.append(messages_, message.v); }
  // Its octets have left the receive buffer.
  void consume(ReceivedId message);
  // After the answer of early_placement, whose writes may still be in progress.
  void give_back(ReceivedId message);

  // Out of order: its payload may go to memory at once, but it is delivered in order.
  void offer(ReceivedId message);
  // One beat per cycle.
  void push_offer(Cycle horizon);
  // Of a written segment only the header is kept; the last answer frees the message for delivery.
  void on_early(EarlyPlaced placed);

  // Nothing of an association that is gone follows it in the pipeline.
  void send_fence(AssociationId association);
  bool is_fence(FlowId flow) const { return flow == fence_flow_; }
  void fence_passed() { --fences_; }
  bool fenced() const { return fences_ != 0; }
  // One segment after another. Its room is free in the cycle after its last beat.
  void emit(Link<FpduBeat>& out, Cycle horizon);
  // When emit() or push_offer() has something to do.
  Cycle next(Link<FpduBeat>& out) const;

 private:
  void start(ReceivedId message);

  Engine& e_;
  const unsigned beat_bytes_;
  const FlowId fence_flow_;
  PushPort<StreamBeat>& behind_;
  llp::SlotPool<ReceivedMessage> messages_;
  llp::SlotList ready_;  // on their way into the pipeline, in order
  BeatEmission emission_;
  std::optional<ReceivedId> emitted_;  // the message whose beats are leaving
  llp::SegmentBeats offer_;
  Cycle offer_free_from_ = 0;
  std::uint32_t fences_ = 0;  // on their way through the pipeline
};

}  // namespace rnic::sctp
