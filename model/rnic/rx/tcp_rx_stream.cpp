// Where accepted octets go: kept for the firmware, or in beats to the deframer.
#include <algorithm>
#include <cstring>

#include "model/common/burst.h"
#include "model/rnic/rx/tcp_rx.h"

namespace rnic {

using tcp::RxReport;

// The reference of the frame goes with the octets.
void TcpRx::deliver(FlowId flow, BufferRef buf, ByteSpan payload) {
  Flow& f = flows_[flow.v];
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  switch (f.mode) {
    case Mode::kRdma:
      if (f.pieces.empty()) return emit(flow, std::move(buf), payload);
      break;  // behind what waits for early_placement
    case Mode::kDiscard:
      return give_room(flow, bytes);
    case Mode::kStreaming:
      break;
  }
  append_piece(flow, std::move(buf), payload);
}

// The last octets before RCV.NXT.
TcpRx::Piece& TcpRx::append_piece(FlowId flow, BufferRef buf, ByteSpan payload) {
  Flow& f = flows_[flow.v];
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t slot = pieces_.take();
  pieces_[slot].buf = std::move(buf);
  pieces_[slot].data = payload.data();
  pieces_[slot].bytes = bytes;
  pieces_[slot].seq = f.rcv_nxt - bytes;
  f.pieces.append(pieces_, slot);
  f.kept += bytes;
  if (f.wanted != 0) reports_queue_.push(flow);
  return pieces_[slot];
}

// True if the beat is leaving that stands for a flow's FIN, behind all its octets.
bool TcpRx::start_end() {
  if (ends_.empty()) return false;
  const FlowId flow = ends_.pop();
  Flow& f = flows_[flow.v];
  if (f.mode != Mode::kRdma) return false;  // released meanwhile
  BufferRef word = pool_.take();
  std::memset(word->bytes(), 0, kEndBytes);
  emission_ = {std::move(word), nullptr, f.stream_offset, kEndBytes, flow, true};
  emission_.data = emission_.buf->bytes();
  emission_.ends = f.end_sent = true;
  return true;
}

// All that came before the FIN is delivered, or dropped.
void TcpRx::on_ended(FlowId flow) {
  flows_[flow.v].end_passed = true;
  reports_queue_.push(flow);
}

// True if kept octets of a flow are leaving now. Octets that early_placement may still be writing wait, so that nothing
// is written to memory behind their delivery; other flows do not wait for them.
bool TcpRx::start_kept() {
  FlowId waits = kNoFlow;
  while (!handovers_.empty() && handovers_.front() != waits) {
    const FlowId flow = handovers_.front();
    Flow& f = flows_[flow.v];
    if (f.pieces.empty() || f.mode != Mode::kRdma) {  // the flow is gone
      handovers_.pop();
      continue;
    }
    Piece& piece = pieces_[f.pieces.head];
    if (awaits_early(flow, piece.seq, piece.end())) {
      if (waits == kNoFlow) waits = flow;
      handovers_.push(handovers_.pop());
      continue;
    }
    if (piece.placed) emit_placed(flow, piece);
    else emit(flow, std::move(piece.buf), {piece.data, piece.bytes});
    f.kept -= piece.bytes;
    f.pieces.drop_front(pieces_);
    if (f.pieces.empty()) {
      handovers_.pop();
      reports_queue_.push(flow);  // a FIN may have waited for this
    }
    return true;
  }
  return false;
}

void TcpRx::emit(FlowId flow, BufferRef buf, ByteSpan payload) {
  Flow& f = flows_[flow.v];
  emission_ = {std::move(buf), payload.data(), f.stream_offset, static_cast<std::uint32_t>(payload.size()), flow, true};
  f.stream_offset += payload.size();
}

void TcpRx::emit_placed(FlowId flow, Piece& piece) {
  emit(flow, std::move(piece.buf), {piece.data, kPlacedHeaderBytes});
  emission_.placed = true;
  flows_[flow.v].stream_offset += piece.bytes - kPlacedHeaderBytes;
}

// One a cycle.
void TcpRx::emit_beats(Emission& emission, Link<StreamBeat>& link, Cycle& free_from) {
  BurstOut to(link);
  while (emission.left != 0) {
    const Cycle at = std::max(to.credit_at(), free_from);
    if (at > horizon()) break;
    StreamBeat beat;
    beat.buf = emission.buf.get();
    beat.data = emission.data;
    beat.offset = emission.offset;
    beat.flow = emission.flow;
    beat.bytes = static_cast<std::uint8_t>(std::min<std::uint32_t>(beat_bytes_, emission.left));
    beat.first = std::exchange(emission.first, false);
    beat.placed = emission.placed;
    beat.ends = emission.ends;
    emission.data += beat.bytes;
    emission.left -= beat.bytes;
    emission.offset += beat.bytes;
    beat.last = emission.left == 0;
    if (beat.last) emission.buf.release();  // travels with the beats from now on
    to.push(beat, at);
    free_from = at + 1;
  }
}

void TcpRx::serve_reports() {
  if (!reports->can_push()) return;
  const FlowId flow = reports_queue_.pop();
  if (report_one(flow)) reports_queue_.push(flow);
}

// True if the flow may have more to say.
bool TcpRx::report_one(FlowId flow) {
  Flow& f = flows_[flow.v];
  const bool leaving = (emission_.left != 0 || now() + 1 < free_from_) && emission_.flow == flow;
  RxReport r;
  r.flow = flow;
  if (f.release_to_report) {
    if (f.end_sent && !f.end_passed) return false;
    if (leaving || awaits_early(flow)) return true;
    f.release_to_report = false;
    r.kind = RxReport::Kind::kReleased;
    reports->push(std::move(r));
    return false;
  }
  if (f.reset_to_report) {
    f.reset_to_report = false;
    r.kind = RxReport::Kind::kReset;
    reports->push(std::move(r));
    return false;
  }
  if (f.wanted != 0 && (f.kept >= f.wanted || (f.fin && f.kept != 0))) {
    r.kind = RxReport::Kind::kStream;
    r.bytes = std::min(f.kept, std::exchange(f.wanted, 0));
    r.data = read_kept(flow, r.bytes);
    reports->push(std::move(r));
    return true;
  }
  if (!f.fin_to_report || f.kept != 0) return false;
  if (leaving) return true;
  if (f.mode == Mode::kRdma && !f.end_passed) {
    if (!f.end_sent) ends_.push(flow);
    return false;
  }
  f.fin_to_report = false;
  r.kind = RxReport::Kind::kFin;
  r.told_in_band = f.end_passed;
  reports->push(std::move(r));
  return false;
}

BufferRef TcpRx::read_kept(FlowId flow, std::uint32_t bytes) {
  Flow& f = flows_[flow.v];
  BufferRef data = pool_.take();
  for (std::uint32_t at = 0; at < bytes;) {
    Piece& piece = pieces_[f.pieces.head];
    const std::uint32_t n = std::min(piece.bytes, bytes - at);
    std::memcpy(data->bytes() + at, piece.data, n);
    at += n;
    piece.data += n;
    piece.bytes -= n;
    if (piece.bytes == 0) f.pieces.drop_front(pieces_);
  }
  f.kept -= bytes;
  give_room(flow, bytes);
  return data;
}

}  // namespace rnic
