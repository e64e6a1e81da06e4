// What early_placement is offered of segments behind a hole, and what it has made of them.
#include "model/rnic/rx/tcp_rx.h"

namespace rnic {

using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;

// Only octets that were not there before are offered, so none is ever written early twice.
void TcpRx::offer(FlowId flow, const BufferRef& buf, std::uint32_t seq, ByteSpan octets) {
  const Flow& f = flows_[flow.v];
  if (!config_.early_placement || !behind.bound() || f.mode != Mode::kRdma) return;
  if (offer_.left != 0 || now() < offer_free_from_ || !behind->can_push()) {
    ++counters_.not_offered;
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(octets.size());
  const std::uint64_t offset = f.stream_offset + f.kept + (seq - f.rcv_nxt);
  offers_.push({flow, seq, seq + bytes, offset});
  offer_ = {buf, octets.data(), offset, bytes, flow, true};
  offer_free_from_ = now() + 1;
}

// Writes to memory that an FPDU names may still be under way for these octets, or for any of the flow.
bool TcpRx::awaits_early(FlowId flow, std::uint32_t seq, std::uint32_t end) const {
  return offers_.any([&](const Offer& o) { return o.flow == flow && seq_lt(o.seq, end) && seq_gt(o.end, seq); });
}
bool TcpRx::awaits_early(FlowId flow) const {
  return offers_.any([&](const Offer& o) { return o.flow == flow; });
}

void TcpRx::on_early(EarlyPlaced placed) {
  RNIC_CHECK(!offers_.empty() && offers_.front().flow == placed.flow);
  const Offer& offer = offers_.front();
  const auto distance = static_cast<std::uint32_t>(placed.offset - offer.offset);
  if (placed.bytes != 0) release_payload(offer.seq + distance, placed);
  if (!placed.last) return;
  reports_queue_.push(placed.flow);  // the end of the flow may have waited for this
  offers_.pop();
}

// Of what is still behind the hole only the header stays. FPDUs that share a segment are cut out of it while that
// leaves half of the list to other segments.
void TcpRx::release_payload(std::uint32_t seq, EarlyPlaced& placed) {
  Flow& f = flows_[placed.flow.v];
  const std::uint32_t end = seq + placed.bytes;
  std::uint32_t at = f.behind.head;
  while (at != tcp::kNil && seq_le(pieces_[at].end(), seq)) at = pieces_[at].next;
  if (at == tcp::kNil || seq_gt(pieces_[at].seq, seq) || seq_lt(pieces_[at].end(), end)) return;
  const unsigned cuts = (pieces_[at].seq != seq) + (pieces_[at].end() != end);
  if (cuts != 0 && f.behind_pieces + cuts > config_.reorder_segments / 2) return;
  if (pieces_[at].seq != seq) at = split(f, at, seq);
  if (pieces_[at].end() != end) split(f, at, end);
  Piece& piece = pieces_[at];
  behind_bytes_ -= piece.held();
  piece.buf = std::move(placed.header);
  piece.data = piece.buf->bytes();
  piece.placed = true;
  behind_bytes_ += piece.held();
  ++counters_.early_fpdus;
  counters_.early_saved += placed.bytes - piece.held();
}

// The part from `seq` on.
std::uint32_t TcpRx::split(Flow& f, std::uint32_t at, std::uint32_t seq) {
  const std::uint32_t rest = pieces_.take();
  Piece& front = pieces_[at];
  Piece& back = pieces_[rest];
  const std::uint32_t bytes = seq - front.seq;
  back.buf = front.buf;
  back.data = front.data + bytes;
  back.bytes = front.bytes - bytes;
  back.seq = seq;
  front.bytes = bytes;
  insert_behind(f, at, rest);
  return rest;
}

}  // namespace rnic
