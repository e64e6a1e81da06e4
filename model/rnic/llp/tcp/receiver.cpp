#include "model/rnic/llp/tcp/receiver.h"

#include <utility>

namespace rnic::tcp {

using wire::seq_gt;
using wire::seq_lt;
using wire::TcpHeader;

void Receiver::open(const RxCommand& c, std::uint32_t window, const PawsTime& time) {
  *this = Receiver();
  state_ = c.established ? State::kOpen : State::kSynReceived;
  passive_ = c.passive;
  window_.open(c.rcv_nxt, largest_window(window, c.agreed.scaling), c.agreed.emss);
  acks_.open(c.snd_una, c.peer_window);
  peer_scale_ = c.agreed.scale;
  timestamps_ = c.agreed.timestamps;
  paws_.start(c.agreed.ts_recent, time);
}

Receiver::Arrival Receiver::on_segment(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf,
                                       std::uint32_t snd_nxt, const PawsTime& time) {
  const TcpHeader& h = s.header;
  Arrival a;
  if (h.has(TcpHeader::kRst)) {
    on_reset(h.seq, a);
    return a;
  }
  if (h.has(TcpHeader::kSyn)) {
    on_syn(s, snd_nxt, a);
    return a;
  }
  const std::uint32_t length = static_cast<std::uint32_t>(s.payload.size()) + h.has(TcpHeader::kFin);
  a.verdict = judge(s, length, snd_nxt, time);
  switch (a.verdict) {
    case Verdict::kAcceptable:
      a.acks = true;
      a.in_order_seq = window_.rcv_nxt();
      state_ = State::kOpen;
      acks_.note(h.ack, window_in(h));
      if (timestamps_) paws_.note(h.options.timestamps->value, h.seq, window_.rcv_nxt(), time);
      accept(m, s, buf, a);
      break;
    case Verdict::kOutside: {
      const std::uint32_t end = h.seq + length;
      a.answer = Answer::kNow;
      a.duplicate = length != 0 && seq_lt(h.seq, window_.rcv_nxt());
      a.beyond_window = length != 0 && !a.duplicate;
      a.fin = finished_ && h.has(TcpHeader::kFin) && end == window_.rcv_nxt();  // our ACK of it was lost
      break;
    }
    case Verdict::kBadAck:
      a.answer = Answer::kChallenge;
      break;
    case Verdict::kOldTimestamp:
      a.answer = Answer::kNow;
      break;
    default:
      a.for_sender = false;
  }
  return a;
}

void Receiver::on_reset(std::uint32_t seq, Arrival& a) {
  if (seq == window_.rcv_nxt()) return reset(a);
  a.verdict = Verdict::kBadReset;
  a.for_sender = window_.holds(seq);
  a.answer = Answer::kChallenge;
}

void Receiver::reset(Arrival& a) {
  a.verdict = Verdict::kReset;
  syn_acked_ = state_ == State::kOpen;
  state_ = State::kReset;
}

// Whatever its number is, a SYN is challenged and otherwise ignored, except in SYN-RECEIVED: there the peer may have
// started again, or both ends opened and this is the known SYN, with the ACK of ours (RFC 9293 figure 8).
void Receiver::on_syn(const ReceivedSegment& s, std::uint32_t snd_nxt, Arrival& a) {
  const TcpHeader& h = s.header;
  if (state_ == State::kSynReceived && passive_ && window_.holds(h.seq)) return reset(a);
  a.verdict = Verdict::kBadSyn;
  a.answer = Answer::kChallenge;
  if (state_ != State::kSynReceived) return;
  if (h.seq + 1 == window_.rcv_nxt() && h.has(TcpHeader::kAck) && acks_.is_new(h.ack, snd_nxt)) {
    a.acks = true;
    state_ = State::kOpen;
    acks_.note(h.ack, window_in(h));
  }
}

// The fate of a segment of `length` numbers that is neither RST nor SYN, in the order of the RFC's checks.
Receiver::Verdict Receiver::judge(const ReceivedSegment& s, std::uint32_t length, std::uint32_t snd_nxt,
                                  const PawsTime& time) const {
  const TcpHeader& h = s.header;
  if (timestamps_ && !h.options.timestamps) return Verdict::kNoTimestamp;
  if (timestamps_ && paws_.is_old(h.options.timestamps->value, time)) return Verdict::kOldTimestamp;
  if (!window_.accepts(h.seq, length)) return Verdict::kOutside;
  if (!h.has(TcpHeader::kAck)) return Verdict::kNoAck;
  if (state_ == State::kSynReceived) return acks_.is_new(h.ack, snd_nxt) ? Verdict::kAcceptable : Verdict::kRefused;
  return acks_.holds(h.ack, snd_nxt) ? Verdict::kAcceptable : Verdict::kBadAck;
}

// Takes what is new and in the window. At once the peer must get the ACK of a segment that shows a loss, or of one that
// it waits for: a FIN, or the end of a gap (RFC 5681 section 4.2).
void Receiver::accept(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf, Arrival& a) {
  const std::uint32_t seq = s.header.seq;
  const bool fin = s.header.has(TcpHeader::kFin);
  if (s.payload.empty() && !fin) return;
  a.answer = Answer::kNow;
  a.duplicate = finished_;
  if (finished_) return;
  ReceiveWindow::Part part = window_.part_of(seq, static_cast<std::uint32_t>(s.payload.size()), fin);
  a.trimmed = part.skip != 0;
  a.beyond_window = part.beyond;
  const ByteSpan octets = s.payload.subspan(part.skip, part.bytes);
  if (seq_gt(seq, window_.rcv_nxt())) {
    a.out_of_order = true;
    return keep(m, buf, seq, octets, part.fin, a);
  }
  a.in_order = octets;
  // Octets before the first kept one are in order. The part that overlaps it is kept if it is new: octets that are
  // offered or placed early leave from the queue only.
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

bool Receiver::take_next(ReassemblyMemory& m, llp::ReceivedOctets& octets) {
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
