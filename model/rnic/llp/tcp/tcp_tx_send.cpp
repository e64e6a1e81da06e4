// Output of tcp_tx: queued segments, acknowledgements and resets.
#include "model/rnic/llp/tcp/tcp_tx.h"

namespace rnic {

using llp::kNil;
using tcp::AckPolicy;
using wire::TcpHeader;

void TcpTx::send_queued(Use& u) {
  tcp::Sender& sender = u.row.sender;
  if (const std::uint32_t slot = sender.next_to_send(resources_); slot != kNil) send(u, slot);
  u.segment = sender.next_to_send(resources_) != kNil;
}

void TcpTx::send(Use& u, std::uint32_t slot) {
  tcp::Sender& sender = u.row.sender;
  const tcp::Sender::Departure departure = sender.send(resources_, slot, now());
  const tcp::QueuedSegment& s = resources_.segments[slot];
  counters_.count(departure, s.payload_bytes);
  u.idle |= departure.idle_restart;
  if (!departure.again) sent_.set(u.flow, sender.snd_nxt());
  if (!rto_.running(u.flow.v) || sender.snd_una() == s.seq) restart_rto(u);
  if (!s.buf) return send_bare(u, s.seq, s.flags);
  tcp::SegmentFields fields = fields_of(u, s.seq, s.flags, false);
  if (departure.ect) fields.ecn = wire::kEct0;
  if (departure.cwr) fields.flags |= TcpHeader::kCwr;
  counters_.payload_bytes += s.payload_bytes;
  Frame frame = writer_.write(u.row.key, u.row.peer_mac, fields, s.buf, s.payload_at, s.payload_bytes);
  frame.resend = departure.resend;
  if (ack_trace_.on()) tell_numbers(u.flow, fields, s.payload_bytes, frame.buf->owner());
  push_frame(u.flow, std::move(frame));
}

tcp::SegmentFields TcpTx::fields_of(Use& u, std::uint32_t seq, std::uint8_t flags, bool bare) {
  tcp::SegmentFields fields;
  fields.seq = seq;
  fields.flags = flags;
  if (u.row.acks.write(ack_settings_, now(), bare, fields)) ack_timers_.stop(u.flow.v);
  return fields;
}

void TcpTx::send_bare(Use& u, std::uint32_t seq, std::uint8_t flags) {
  tcp::SegmentFields fields = fields_of(u, seq, flags, true);
  if (flags & TcpHeader::kSyn) u.row.sender.write_syn_options(config_, fields.options);
  if (ack_trace_.on()) tell_numbers(u.flow, fields, 0, {});
  push_frame(u.flow, writer_.write_bare(u.row.key, u.row.peer_mac, fields));
}

void TcpTx::send_reset(const llp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                       std::uint32_t ack) {
  ++counters_.resets;
  push_frame(kNoFlow, writer_.write_reset(key, mac, seq, with_ack, ack));
}

// The number's earlier uses count; a segment of no connection has none.
RequestId TcpTx::owner(FlowId flow) const {
  const std::uint32_t uses = flow.v < uses_.size() ? uses_[flow.v] : 0;
  return {node_, RequestId::Kind::kFlow, flow.v, uses - (uses != 0), 0};
}

// A segment without an FPDU belongs to the connection.
void TcpTx::push_frame(FlowId flow, Frame frame) {
  ++counters_.segments;
  if (!frame.buf->owner()) frame.buf->belong_to(owner(flow));
  out->push(std::move(frame));
  slot_ = false;
}

// For latency breakdowns. What is no FPDU belongs to the connection.
void TcpTx::tell_numbers(FlowId flow, const tcp::SegmentFields& fields, std::uint32_t payload,
                         RequestId of_fpdu) const {
  ack_trace_.sent(flow, of_fpdu ? of_fpdu : owner(flow), fields.ack, fields.seq + payload);
}

// Unless a segment has carried it meanwhile, or the flow is gone.
void TcpTx::send_owed_ack(Use& u) {
  FlowTx& f = u.row;
  u.ack = false;
  if (f.acks.owes_earlier()) {
    send_earlier_ack(u);
  } else if (f.probe_owed) {
    // Not acceptable, hence answered (RFC 9293 section 3.8.6.1).
    f.probe_owed = false;
    send_bare(u, f.sender.snd_una() - 1, TcpHeader::kAck);
  } else if (f.acks.owed()) {
    ++counters_.pure_acks;
    send_bare(u, f.sender.snd_nxt(), TcpHeader::kAck);
  }
}

// What came before the mark changed; the rest is still owed.
void TcpTx::send_earlier_ack(Use& u) {
  FlowTx& f = u.row;
  ++counters_.pure_acks;
  tcp::SegmentFields fields;
  fields.seq = f.sender.snd_nxt();
  fields.flags = TcpHeader::kAck;
  const AckPolicy::Due rest = f.acks.write_earlier(ack_settings_, now(), fields);
  ack_timers_.stop(u.flow.v);
  if (ack_trace_.on()) tell_numbers(u.flow, fields, 0, {});
  push_frame(u.flow, writer_.write_bare(f.key, f.peer_mac, fields));
  settle(u, rest);
}

}  // namespace rnic
