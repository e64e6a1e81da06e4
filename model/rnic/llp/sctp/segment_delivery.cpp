#include "model/rnic/llp/sctp/segment_delivery.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/rnic/llp/sctp/engine.h"
#include "model/wire/ddp_session.h"
#include "model/wire/fpdu.h"

namespace rnic::sctp {

using llp::kNil;

SegmentDelivery::SegmentDelivery(Engine& engine, const DatapathConfig& datapath, FlowId fence_flow,
                                 PushPort<StreamBeat>& behind)
    : e_(engine),
      beat_bytes_(datapath.beat_bytes),
      fence_flow_(fence_flow),
      behind_(behind),
      messages_({"received", std::size_t{e_.config.max_associations} * e_.config.reorder_chunks,
                 "sctp.max_associations x sctp.reorder_chunks", PoolLimit::kPeer}),
      emission_(datapath) {}

void SegmentDelivery::reset() {
  messages_.reset();
  ready_ = {};
  emission_.reset();
  emitted_.reset();
  offer_ = {};
  offer_free_from_ = 0;
  fences_ = 0;
}

void SegmentDelivery::consume(ReceivedId message) {
  const ReceivedMessage& m = (*this)[message];
  const AssociationId association{m.association};
  AssociationContext& c = e_.context(association);
  if (c.life == m.life) {
    c.receiver.consume(e_.receiver_settings, m.bytes);
    e_.sends.push(association);
  }
  give_back(message);
}

void SegmentDelivery::give_back(ReceivedId message) {
  ReceivedMessage& m = (*this)[message];
  if (m.offered) m.released = true;
  else messages_.give_back(message.v);
}

// ---- Early placement

void SegmentDelivery::offer(ReceivedId message) {
  ++e_.counters.out_of_order;
  if (!e_.config.early_placement) return;
  if (!offer_.done() || e_.now() < offer_free_from_ || !behind_->can_push()) {
    ++e_.counters.not_offered;
    return;
  }
  ReceivedMessage& m = (*this)[message];
  store_be16(m.data, static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes));
  m.offered = true;
  const FlowId flow = e_.flow_of(AssociationId{m.association}, m.stream);
  const QpUse& qp = e_.qps[flow];
  offer_.start(flow, {qp.qpn, life_of(qp.epoch), false, false}, llp::received_octets(m.buf, {m.data, m.bytes}, 0),
               message.v);
  offer_free_from_ = e_.now() + 1;
}

void SegmentDelivery::push_offer(Cycle horizon) {
  if (!offer_.done()) offer_.push(*behind_, beat_bytes_, offer_free_from_, horizon);
}

void SegmentDelivery::on_early(EarlyPlaced placed) {
  const ReceivedId message{static_cast<std::uint32_t>(placed.offset)};
  ReceivedMessage& m = (*this)[message];
  if (placed.bytes != 0) {
    ++e_.counters.early_segments;
    m.placed = true;
    m.buf = std::move(placed.header);
    m.data = m.buf->bytes();
  }
  if (!placed.last) return;
  m.offered = false;
  if (m.released) messages_.give_back(message.v);
}

// ---- Into the pipeline

void SegmentDelivery::send_fence(AssociationId association) {
  const ReceivedId message = take();
  ReceivedMessage& m = (*this)[message];
  m.fence = true;
  m.association = static_cast<std::uint16_t>(association.v);
  m.life = e_.context(association).life;
  append(message);
  ++fences_;
}

void SegmentDelivery::emit(Link<FpduBeat>& out, Cycle horizon) {
  emission_.push(out, e_.now(), horizon);
  if (!emission_.free(e_.now())) return;
  if (emitted_) consume(*std::exchange(emitted_, std::nullopt));
  if (ready_.empty() || messages_[ready_.head].offered) return;  // nothing is written after delivery
  const ReceivedId message{ready_.head};
  ready_.head = std::exchange((*this)[message].next, kNil);
  if (ready_.head == kNil) ready_.tail = kNil;
  start(message);
  emitted_ = message;
  emission_.push(out, e_.now(), horizon);
}

void SegmentDelivery::start(ReceivedId message) {
  ReceivedMessage& m = (*this)[message];
  const AssociationId association{m.association};
  const FlowId flow = m.fence ? fence_flow_ : e_.flow_of(association, m.stream);
  const QpUse qp = m.fence ? QpUse{} : e_.qps[flow];
  if (m.ends || m.fence) {
    BufferRef word = e_.pool.take(m.fence ? e_.owner(association) : m.buf->owner());
    std::memset(word->bytes(), 0, kEndBytes);
    return emission_.start_end(std::move(word), flow, qp);
  }
  const auto ulpdu = static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes);
  store_be16(m.data, ulpdu);
  ++e_.counters.segments;
  if (m.placed) emission_.start_placed(m.buf, m.data, kPlacedHeaderBytes / 4, flow, qp);
  else emission_.start(m.buf, m.data, static_cast<std::uint32_t>(wire::fpdu_bytes(ulpdu) / 4), flow, qp);
}

Cycle SegmentDelivery::next(Link<FpduBeat>& out) const {
  Cycle at = emission_.next(out);
  const bool waits = ready_.empty() || messages_[ready_.head].offered;
  if (emission_.done() && (emitted_ || !waits)) at = std::min(at, emission_.free_from());
  if (!offer_.done()) at = std::min(at, std::max(behind_->credit_at(), offer_free_from_));
  return at;
}

}  // namespace rnic::sctp
