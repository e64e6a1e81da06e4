// Segments behind a hole: kept until it is filled, as far as there is room for them. Each has its place in the stream:
// stream_offset + (seq - rcv_nxt) once the octets in order have been handed over.
#include <algorithm>

#include "model/rnic/rx/tcp_rx.h"

namespace rnic {

using tcp::kNil;
using wire::SackBlock;
using wire::seq_gt;
using wire::seq_le;

// Keeps the octets that are not kept already. Returns the run that they are part of now (RFC 2018 section 4).
SackBlock TcpRx::keep(FlowId flow, const BufferRef& buf, std::uint32_t seq, ByteSpan payload, bool fin) {
  Flow& f = flows_[flow.v];
  const std::uint32_t first = seq;
  std::uint32_t before = kNil, at = f.behind.head;
  if (at != kNil && seq_le(pieces_[f.behind.tail].end(), seq)) {  // as while a hole's successors come in
    before = f.behind.tail;
    at = kNil;
  }
  while (!payload.empty()) {
    while (at != kNil && seq_le(pieces_[at].end(), seq)) {
      before = at;
      at = pieces_[at].next;
    }
    auto bytes = static_cast<std::uint32_t>(payload.size());
    if (at != kNil && seq_le(pieces_[at].seq, seq)) {
      bytes = std::min(bytes, pieces_[at].end() - seq);  // known
    } else {
      if (at != kNil) bytes = std::min(bytes, pieces_[at].seq - seq);
      if (!keep_part(f, before, buf, seq, payload.subspan(0, bytes))) {
        ++counters_.reorder_drops;
        return run_around(f, first);
      }
      if (seq == first && bytes == payload.size()) offer(flow, buf, seq, payload);
      before = before == kNil ? f.behind.head : pieces_[before].next;
      at = pieces_[before].next;
    }
    payload = payload.subspan(bytes);
    seq += bytes;
  }
  if (fin) {
    f.fin_behind = true;
    f.fin_seq = seq;
  }
  return run_around(f, first);
}

bool TcpRx::keep_part(Flow& f, std::uint32_t before, const BufferRef& buf, std::uint32_t seq, ByteSpan part) {
  const auto bytes = static_cast<std::uint32_t>(part.size());
  if (f.behind_pieces == config_.reorder_segments || behind_bytes_ + bytes > config_.reorder_bytes) return false;
  behind_bytes_ += bytes;
  counters_.reorder_bytes_max = std::max<std::uint64_t>(counters_.reorder_bytes_max, behind_bytes_);
  const std::uint32_t slot = pieces_.take();
  Piece& piece = pieces_[slot];
  piece.buf = buf;
  piece.data = part.data();
  piece.bytes = bytes;
  piece.seq = seq;
  if (before == f.behind.tail && (before == kNil || pieces_[before].end() != seq)) f.last_run = seq;
  insert_behind(f, before, slot);
  if (slot != f.behind.tail && piece.end() == f.last_run) f.last_run = run_around(f, seq).left;
  return true;
}

void TcpRx::insert_behind(Flow& f, std::uint32_t before, std::uint32_t slot) {
  f.behind.insert_after(pieces_, before, slot);
  counters_.reorder_segments_max = std::max<std::uint64_t>(counters_.reorder_segments_max, ++f.behind_pieces);
}

// Empty if the octet is not kept.
SackBlock TcpRx::run_around(const Flow& f, std::uint32_t seq) const {
  SackBlock run;
  if (!f.behind.empty() && seq_le(f.last_run, seq)) {
    run = {f.last_run, pieces_[f.behind.tail].end()};
    return seq_gt(run.right, seq) ? run : SackBlock{};
  }
  for (std::uint32_t at = f.behind.head; at != kNil; at = pieces_[at].next) {
    const Piece& piece = pieces_[at];
    if (run.left == run.right || run.right != piece.seq) {
      if (seq_gt(piece.seq, seq)) break;
      run.left = piece.seq;
    }
    run.right = piece.end();
  }
  return seq_gt(run.right, seq) ? run : SackBlock{};
}

// In order is what comes before the first octet that is kept already. What overlaps it is kept as far as it is new, so
// that octets which are offered or placed early have only one way to go on.
ByteSpan TcpRx::up_to_behind(FlowId flow, const BufferRef& buf, ByteSpan payload, bool& fin) {
  const Flow& f = flows_[flow.v];
  const std::uint32_t first = pieces_[f.behind.head].seq;
  const std::uint32_t in_order = first - f.rcv_nxt;
  if (payload.size() <= in_order) return payload;
  keep(flow, buf, first, payload.subspan(in_order), std::exchange(fin, false));
  return payload.subspan(0, in_order);
}

// Hands over what is in order now.
void TcpRx::fill_hole(FlowId flow) {
  Flow& f = flows_[flow.v];
  while (!f.behind.empty() && pieces_[f.behind.head].seq == f.rcv_nxt) {
    Piece& piece = pieces_[f.behind.head];
    const ByteSpan payload{piece.data, piece.bytes};
    const bool placed = piece.placed;
    behind_bytes_ -= piece.held();
    BufferRef buf = std::move(piece.buf);
    f.behind.drop_front(pieces_);
    --f.behind_pieces;
    counters_.payload_bytes += payload.size();
    f.rcv_nxt += static_cast<std::uint32_t>(payload.size());
    if (f.mode == Mode::kDiscard) give_room(flow, static_cast<std::uint32_t>(payload.size()));
    else append_piece(flow, std::move(buf), payload).placed = placed;
    if (f.mode == Mode::kRdma) handovers_.push(flow);
  }
  if (f.fin_behind && f.fin_seq == f.rcv_nxt) take_fin(flow);
}

void TcpRx::forget_behind(Flow& f) {
  for (std::uint32_t at = f.behind.head; at != kNil; at = pieces_[at].next) behind_bytes_ -= pieces_[at].held();
  f.behind.clear(pieces_);
  f.behind_pieces = 0;
  f.fin_behind = false;
}

}  // namespace rnic
