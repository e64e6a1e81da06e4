// Output of tcp_tx: queued segments, acknowledgements and resets.
#include "model/rnic/llp/tcp/tcp_tx.h"

namespace rnic {

using llp::kNil;
using tcp::AckPolicy;
using wire::TcpHeader;

bool TcpTx::send_queued() {
  while (!sends_.empty()) {
    const FlowId flow = sends_.pop();
    Flow& f = flows_[flow.v];
    const std::uint32_t slot = f.sender.next_to_send(resources_);
    if (slot == kNil) continue;
    send(flow, slot);
    if (f.sender.next_to_send(resources_) != kNil) sends_.push(flow);
    return true;
  }
  return false;
}

void TcpTx::send(FlowId flow, std::uint32_t slot) {
  Flow& f = flows_[flow.v];
  const tcp::Sender::Departure departure = f.sender.send(resources_, slot, now());
  const tcp::QueuedSegment& s = resources_.segments[slot];
  counters_.count(departure, s.payload_bytes);
  if (!departure.again) sent_.set(flow, f.sender.snd_nxt());
  if (!rto_.running(flow.v) || f.sender.snd_una() == s.seq) restart_rto(flow);
  if (!s.buf) return send_bare(flow, s.seq, s.flags);
  tcp::SegmentFields fields = fields_of(flow, s.seq, s.flags, false);
  if (departure.ect) fields.ecn = wire::kEct0;
  if (departure.cwr) fields.flags |= TcpHeader::kCwr;
  counters_.payload_bytes += s.payload_bytes;
  Frame frame = writer_.write(f.key, f.peer_mac, fields, s.buf, s.payload_at, s.payload_bytes);
  frame.again = departure.again;
  push_frame(flow, std::move(frame));
}

tcp::SegmentFields TcpTx::fields_of(FlowId flow, std::uint32_t seq, std::uint8_t flags, bool bare) {
  tcp::SegmentFields fields;
  fields.seq = seq;
  fields.flags = flags;
  if (flows_[flow.v].acks.write(ack_settings_, now(), bare, fields)) ack_timers_.stop(flow.v);
  return fields;
}

void TcpTx::send_bare(FlowId flow, std::uint32_t seq, std::uint8_t flags) {
  const Flow& f = flows_[flow.v];
  tcp::SegmentFields fields = fields_of(flow, seq, flags, true);
  if (flags & TcpHeader::kSyn) f.sender.write_syn_options(config_, fields.options);
  push_frame(flow, writer_.write_bare(f.key, f.peer_mac, fields));
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
}

bool TcpTx::send_owed_ack() {
  while (!acks_.empty()) {
    const FlowId flow = acks_.pop();
    Flow& f = flows_[flow.v];
    if (f.acks.owes_earlier()) {
      send_earlier_ack(flow);
    } else if (f.probe_owed) {
      // Not acceptable, hence answered (RFC 9293 section 3.8.6.1).
      f.probe_owed = false;
      send_bare(flow, f.sender.snd_una() - 1, TcpHeader::kAck);
    } else if (f.acks.owed()) {
      ++counters_.pure_acks;
      send_bare(flow, f.sender.snd_nxt(), TcpHeader::kAck);
    } else {
      continue;  // a segment has carried it meanwhile, or the flow is gone
    }
    return true;
  }
  return false;
}

// What came before the mark changed; the rest is still owed.
void TcpTx::send_earlier_ack(FlowId flow) {
  Flow& f = flows_[flow.v];
  ++counters_.pure_acks;
  tcp::SegmentFields fields;
  fields.seq = f.sender.snd_nxt();
  fields.flags = TcpHeader::kAck;
  const AckPolicy::Due rest = f.acks.write_earlier(ack_settings_, now(), fields);
  ack_timers_.stop(flow.v);
  push_frame(flow, writer_.write_bare(f.key, f.peer_mac, fields));
  settle(flow, rest);
}

}  // namespace rnic
