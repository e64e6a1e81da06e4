#include "model/rnic/llp/receiver.h"

#include <utility>

namespace rnic::tcp {

using wire::seq_gt;
using wire::TcpHeader;

void Receiver::open(std::uint32_t rcv_nxt, std::uint32_t window, const Agreed& agreed) {
  *this = Receiver();
  state_ = State::kOpen;
  window_.open(rcv_nxt, window);
  peer_scale_ = agreed.scale;
  timestamps_ = agreed.timestamps;
  paws_.start(agreed.ts_recent);
}

Receiver::Arrival Receiver::on_segment(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf) {
  const TcpHeader& h = s.header;
  Arrival a;
  if (h.has(TcpHeader::kRst)) {
    on_reset(h.seq, a);
  } else if (h.has(TcpHeader::kSyn)) {
    a.verdict = Verdict::kBadSyn;
    a.answer = Answer::kChallenge;
    a.acks = h.has(TcpHeader::kAck);
  } else if (!h.has(TcpHeader::kAck)) {
    a.verdict = Verdict::kNoAck;
    a.for_sender = false;
  } else if (timestamps_ && (a.verdict = timely(s)) != Verdict::kAcceptable) {
    a.for_sender = a.verdict == Verdict::kOldTimestamp;
    a.answer = Answer::kNow;
  } else {
    a.acks = true;
    a.in_order_seq = window_.rcv_nxt();
    accept(m, s, buf, a);
  }
  return a;
}

void Receiver::on_reset(std::uint32_t seq, Arrival& a) const {
  a.verdict = seq == window_.rcv_nxt() ? Verdict::kReset : Verdict::kBadReset;
  a.for_sender = a.verdict == Verdict::kBadReset && window_.holds(seq);
  a.answer = Answer::kChallenge;
}

Receiver::Verdict Receiver::timely(const ReceivedSegment& s) {
  const TcpHeader& h = s.header;
  if (!h.options.timestamps) return Verdict::kNoTimestamp;
  const std::uint32_t end = h.seq + static_cast<std::uint32_t>(s.payload.size()) + h.has(TcpHeader::kFin);
  return paws_.accept(h.options.timestamps->value, h.seq, end, window_.rcv_nxt()) ? Verdict::kAcceptable
                                                                                  : Verdict::kOldTimestamp;
}

// Takes what is new and in the window. What the peer has to hear at once is a segment that says that it lost something,
// or one that it waits for: a FIN, or the end of a gap (RFC 5681 section 4.2).
void Receiver::accept(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf, Arrival& a) {
  const std::uint32_t seq = s.header.seq;
  const bool fin = s.header.has(TcpHeader::kFin);
  if (s.payload.empty() && !fin) {
    if (!window_.holds(seq)) a.answer = Answer::kNow;
    return;
  }
  ReceiveWindow::Part part = window_.part_of(seq, static_cast<std::uint32_t>(s.payload.size()), fin);
  a.answer = Answer::kNow;
  a.duplicate = finished_ || part.duplicate;
  if (a.duplicate) {
    a.fin = fin && finished_;  // our ACK of it was lost
    return;
  }
  a.trimmed = part.skip != 0;
  a.beyond_window = part.beyond;
  if (part.outside) return;
  const ByteSpan octets = s.payload.subspan(part.skip, part.bytes);
  if (seq_gt(seq, window_.rcv_nxt())) {
    a.out_of_order = true;
    return keep(m, buf, seq, octets, part.fin, a);
  }
  a.in_order = octets;
  // In order is what comes before the first octet that is kept already. What overlaps it is kept as far as it is new:
  // octets that are offered or placed early go on from the queue only.
  if (queue_.has_octets()) {
    const std::uint32_t first = queue_.first(m), before = first - window_.rcv_nxt();
    if (octets.size() > before) {
      a.in_order = octets.subspan(0, before);
      keep(m, buf, first, octets.subspan(before), std::exchange(part.fin, false), a);
      a.kept = {};
    }
  }
  window_.advance(static_cast<std::uint32_t>(a.in_order.size()));
  if (part.fin) {
    take_fin(m);
    a.fin = true;
  } else {
    a.fills_gap = !queue_.empty();
    if (!a.fills_gap && !part.beyond) a.answer = Answer::kSoon;
  }
}

void Receiver::keep(ReassemblyMemory& m, const BufferRef& buf, std::uint32_t seq, ByteSpan octets, bool fin,
                    Arrival& a) {
  const ReassemblyQueue::Kept kept = queue_.keep(m, buf, seq, octets, fin);
  a.kept = kept.run;
  a.dropped = kept.dropped;
  if (!kept.whole) return;
  a.offered = octets;
  a.offered_distance = seq - window_.rcv_nxt();
}

bool Receiver::take_next(ReassemblyMemory& m, ReceivedOctets& octets) {
  if (queue_.octets_at(m, window_.rcv_nxt())) {
    octets = queue_.take_front(m);
    window_.advance(octets.bytes);
    return true;
  }
  if (queue_.fin_at(window_.rcv_nxt())) take_fin(m);
  return false;
}

void Receiver::take_fin(ReassemblyMemory& m) {
  window_.advance(1);
  finished_ = true;
  queue_.clear(m);  // nothing follows a FIN
}

}  // namespace rnic::tcp
