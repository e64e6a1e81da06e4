// What leaves tcp_tx: the retransmission queue's segments, acknowledgements and resets.
#include <algorithm>
#include <cstring>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::kNil;
using wire::TcpHeader;

std::uint32_t TcpTx::append(FlowId flow, Segment segment) {
  Flow& f = flows_[flow.v];
  const std::uint32_t slot = f.loss.append(segments_, std::move(segment));
  if (f.loss.flight() == 0 && (!rto_.running(flow) || keepalive_ != 0)) restart_rto(flow);
  return slot;
}

bool TcpTx::send_queued() {
  while (!sends_.empty()) {
    const FlowId flow = sends_.pop();
    Flow& f = flows_[flow.v];
    const std::uint32_t slot = next_to_send(f);
    if (slot == kNil) continue;
    send(flow, slot);
    if (next_to_send(f) != kNil) sends_.push(flow);
    return true;
  }
  return false;
}

void TcpTx::send(FlowId flow, std::uint32_t slot) {
  Flow& f = flows_[flow.v];
  Segment& s = segments_[slot];
  if (f.rdma && f.loss.flight() == 0) restart_if_idle(f);
  const bool again = f.loss.sent(segments_, slot);
  f.sent_at = now();
  if (again) {
    ++counters_.retransmissions;
    counters_.retransmitted_bytes += s.payload_bytes;
    if (!f.timestamps) f.timing = false;  // RFC 6298 section 3: an ACK would not tell which one it answers
  } else if (!f.timing) {
    f.timing = true;
    f.timed_seq = f.loss.snd_nxt();
    f.timed_at = now();
  }
  if (!rto_.running(flow) || f.loss.snd_una() == s.seq) restart_rto(flow);
  if (!s.buf) return send_bare(flow, s.seq, s.flags);
  if (again && s.buf.shared()) {  // somebody still reads the frame that was sent first
    BufferRef copy = pool_.take(s.buf->request());
    std::memcpy(copy->bytes() + kFrameHeadroom, s.buf->bytes() + s.payload_at, s.payload_bytes);
    s.buf = std::move(copy);
    s.payload_at = kFrameHeadroom;
  }
  tcp::SegmentFields fields = fields_of(flow, s.seq, s.flags, false);
  if (f.ecn && !again) {
    fields.ecn = wire::kEct0;
    if (f.cwr_owed) fields.flags |= TcpHeader::kCwr;
    f.cwr_owed = false;
  }
  counters_.payload_bytes += s.payload_bytes;
  push_frame(f.key, f.peer_mac, fields, s.buf, s.payload_at, s.payload_bytes);
}

tcp::SegmentFields TcpTx::fields_of(FlowId flow, std::uint32_t seq, std::uint8_t flags, bool bare) {
  tcp::SegmentFields fields;
  fields.seq = seq;
  fields.flags = flags;
  if (flows_[flow.v].acks.write(ack_settings_, now(), bare, fields)) ack_timers_.stop(flow);
  return fields;
}

void TcpTx::send_bare(FlowId flow, std::uint32_t seq, std::uint8_t flags) {
  const Flow& f = flows_[flow.v];
  tcp::SegmentFields fields = fields_of(flow, seq, flags, true);
  if (flags & TcpHeader::kSyn) {
    fields.options.mss = config_.mss();
    if (f.scaling) fields.options.window_scale = config_.window_scale();
    fields.options.sack_permitted = f.sack;
  }
  push_frame(f.key, f.peer_mac, fields, pool_.take(), kFrameHeadroom, 0);
}

void TcpTx::send_reset(const tcp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                       std::uint32_t ack) {
  ++counters_.resets;
  tcp::SegmentFields fields;
  fields.seq = seq;
  fields.flags = TcpHeader::kRst;
  if (with_ack) {
    fields.flags |= TcpHeader::kAck;
    fields.ack = ack;
  }
  push_frame(key, mac, fields, pool_.take(), kFrameHeadroom, 0);
}

void TcpTx::push_frame(const tcp::FlowKey& key, const wire::MacAddress& mac, const tcp::SegmentFields& fields,
                       const BufferRef& buf, std::uint32_t payload_at, std::uint32_t payload_bytes) {
  ++counters_.segments;
  tcp::SegmentFields numbered = fields;
  numbered.ip_id = ip_id_++;
  tcp::write_headers(station_, key, mac, numbered, buf->bytes() + payload_at, payload_bytes);
  const std::uint32_t headers = tcp::header_bytes(fields);
  out->push({buf, payload_at - headers, headers + payload_bytes, true});
}

}  // namespace rnic
