#include "model/rnic/tx/tcp_tx.h"

#include <algorithm>
#include <cstring>

namespace rnic {

using tcp::kNil;
using tcp::RxFeedback;
using tcp::TxCommand;
using tcp::TxReport;
using wire::seq_ge;
using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;
using wire::seq_max;
using wire::TcpHeader;

namespace {

constexpr std::uint8_t bit(TxReport::Kind kind) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind)); }

}  // namespace

TcpTx::TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const StationConfig& station,
             BufferPool& pool)
    : Stage(nm, clk),
      config_(config),
      station_(station),
      rto_limits_(config, clk.period_ps()),
      ack_delay_(std::max<Cycle>(1, config.ack_delay_ns * 1000 / clk.period_ps())),
      pool_(pool),
      flows_(config.max_flows),
      acks_(config.max_flows),
      sends_(config.max_flows),
      reports_queue_(config.max_flows),
      rto_(config.max_flows),
      ack_timers_(config.max_flows) {
  RNIC_CHECK(pool.block_bytes() >= kFrameHeadroom + config.mtu);
}

// The frame slot goes to commands first, then to ACKs, to queued segments, and to the FPDU that is coming in.
Wake TcpTx::tick() {
  if (feedback->can_pop()) on_feedback(feedback->pop());
  run_timers();
  const bool room = out->can_push();
  bool slot = room;
  if (commands->can_pop() && slot && on_command(commands->pop())) slot = false;
  if (slot && !acks_.empty() && send_owed_ack()) slot = false;
  if (slot && !sends_.empty() && send_queued()) slot = false;
  if (in->can_pop()) take_beat(slot);
  if (!reports_queue_.empty()) serve_reports();
  return next_wake(room);
}

Wake TcpTx::next_wake(bool room) const {
  if (feedback->can_pop() || !reports_queue_.empty()) return Wake::next_cycle();
  if (in->can_pop() && (room || !in->front().last)) return Wake::next_cycle();
  if (room && (commands->can_pop() || !acks_.empty() || !sends_.empty())) return Wake::next_cycle();
  return Wake::at_cycle(std::max(std::min(rto_.next(), ack_timers_.next()), now() + 1));
}

// ---- FPDUs

// Store and forward: the frame leaves in the cycle of the last beat, or the beat waits for its slot.
void TcpTx::take_beat(bool slot) {
  if (in->front().last && !slot) return;
  const FpduBeat beat = in->pop();
  if (beat.first) {
    fpdu_ = beat.data;
    fpdu_bytes_ = 0;
  }
  RNIC_CHECK(beat.data == fpdu_ + fpdu_bytes_);
  fpdu_bytes_ += std::uint32_t{4} * beat.words;
  if (beat.last) take_fpdu(beat);
}

void TcpTx::take_fpdu(const FpduBeat& last) {
  Flow& f = flows_[last.flow.v];
  Segment s;
  s.buf = BufferRef::adopt(last.buf);
  if (!f.rdma || f.fin_queued) {
    ++counters_.fpdus_dropped;
    return;
  }
  RNIC_CHECK_MSG(fpdu_bytes_ <= f.mss, std::string(name()) + ": an FPDU is larger than a segment");
  s.payload_at = static_cast<std::uint32_t>(fpdu_ - last.buf->bytes());
  RNIC_CHECK(s.payload_at >= tcp::kHeaderBytes);
  s.payload_bytes = static_cast<std::uint16_t>(fpdu_bytes_);
  s.flags = TcpHeader::kPsh | TcpHeader::kAck;
  s.completes_wqe = last.completes_wqe;
  append(last.flow, std::move(s));
  if (f.unsent == f.queue.tail && may_send(f)) send(last.flow, f.unsent);  // else it is behind a retransmission
}

// ---- Commands

// True if the cycle's frame was sent.
bool TcpTx::on_command(TxCommand c) {
  if (c.kind == TxCommand::Kind::kRefuse) {
    send_reset(c.key, c.peer_mac, c.seq, c.with_ack, c.rcv_nxt);
    return true;
  }
  Flow& f = flows_[c.flow.v];
  if (c.kind == TxCommand::Kind::kOpen) {
    open(c);
    return false;
  }
  RNIC_CHECK(f.open);
  switch (c.kind) {
    case TxCommand::Kind::kEstablish:
      establish(c);
      return false;
    case TxCommand::Kind::kStream:
      queue_stream(c);
      return false;
    case TxCommand::Kind::kEnterRdma:
      f.rdma = true;
      f.granted = f.snd_end;
      reports_queue_.push(c.flow);
      restart_rto(c.flow);
      return false;
    case TxCommand::Kind::kFin: {
      Segment fin;
      fin.flags = TcpHeader::kFin | TcpHeader::kAck;
      append(c.flow, std::move(fin));
      sends_.push(c.flow);
      f.fin_queued = true;
      return false;
    }
    case TxCommand::Kind::kAbort:
      send_reset(f.key, f.peer_mac, f.snd_max, true, f.rcv_nxt);
      release(c.flow);
      return true;
    case TxCommand::Kind::kRelease:
      release(c.flow);
      return false;
    default:
      RNIC_CHECK(false);
  }
  return false;
}

// A second kOpen is that of a flow whose own SYN crossed the peer's.
void TcpTx::open(const TxCommand& c) {
  Flow& f = flows_[c.flow.v];
  f.queue.clear(segments_);
  f = Flow{};
  f.open = true;
  f.key = c.key;
  f.peer_mac = c.peer_mac;
  f.mss = c.peer_mss;
  f.snd_una = f.snd_nxt = f.snd_max = f.snd_end = c.seq;
  f.snd_edge = c.seq + 1 + c.peer_window;
  f.peer_window = c.peer_window;
  f.synchronized = c.with_ack;
  f.scaling = c.with_ack ? c.scaling : true;
  f.rcv_nxt = c.rcv_nxt;
  f.rcv_edge = c.rcv_nxt + config_.window_bytes;
  Segment syn;
  syn.flags = TcpHeader::kSyn;
  if (c.with_ack) syn.flags |= TcpHeader::kAck;
  append(c.flow, std::move(syn));
  sends_.push(c.flow);
}

void TcpTx::establish(const TxCommand& c) {
  Flow& f = flows_[c.flow.v];
  f.mss = c.peer_mss;
  f.scaling = c.scaling;
  f.synchronized = true;
  f.rcv_nxt = c.rcv_nxt;
  f.rcv_edge = c.rcv_nxt + config_.window_bytes;
  f.snd_edge = c.ack + c.peer_window;
  f.peer_window = c.peer_window;
  acknowledge(c.flow, c.ack);
  owe_ack(c.flow);
}

void TcpTx::queue_stream(const TxCommand& c) {
  const Flow& f = flows_[c.flow.v];
  if (f.fin_queued) return;
  for (std::uint32_t at = 0; at < c.bytes;) {
    Segment s;
    s.buf = pool_.take();
    s.payload_at = kFrameHeadroom;
    s.payload_bytes = static_cast<std::uint16_t>(std::min<std::uint32_t>(f.mss, c.bytes - at));
    std::memcpy(s.buf->bytes() + kFrameHeadroom, c.data->bytes() + at, s.payload_bytes);
    at += s.payload_bytes;
    s.flags = TcpHeader::kAck;
    if (at == c.bytes) s.flags |= TcpHeader::kPsh;
    append(c.flow, std::move(s));
    sends_.push(c.flow);
  }
}

void TcpTx::release(FlowId flow) {
  Flow& f = flows_[flow.v];
  f.queue.clear(segments_);
  f = Flow{};
  rto_.stop(flow);
  ack_timers_.stop(flow);
  report(flow, TxReport::Kind::kReleased);
}

// ---- What the peer said

void TcpTx::on_feedback(const RxFeedback& fb) {
  Flow& f = flows_[fb.flow.v];
  if (!f.open) return;
  if (f.synchronized) {
    f.rcv_nxt = seq_max(f.rcv_nxt, fb.rcv_nxt);
    f.rcv_edge = seq_max(f.rcv_edge, fb.rcv_edge);
  }
  if (fb.acks) on_ack(fb.flow, fb);
  if (fb.answer == RxFeedback::Answer::kNow) {
    owe_ack(fb.flow);
  } else if (fb.answer == RxFeedback::Answer::kSoon) {
    if (++f.to_acknowledge >= config_.ack_every) owe_ack(fb.flow);
    else if (!ack_timers_.running(fb.flow)) ack_timers_.start(fb.flow, now() + ack_delay_);
  }
  // A window that was short has opened again (RFC 9293 section 3.8.6.2.2).
  const std::uint32_t step = std::min<std::uint32_t>(2u * config_.mss(), config_.window_bytes / 2);
  if (seq_lt(f.told_edge, f.rcv_nxt + step) && seq_ge(f.rcv_edge, f.told_edge + step)) owe_ack(fb.flow);
}

// RFC 9293 section 3.10.7.4, fifth. The edge never goes back: a peer that shrinks its window gets what it was promised
// to take, again and again.
void TcpTx::on_ack(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  if (seq_gt(fb.ack, f.snd_max)) return owe_ack(flow);
  if (seq_lt(fb.ack, f.snd_una)) return;
  f.peer_window = fb.window;
  const bool was_short = window_short(f);
  f.snd_edge = seq_max(f.snd_edge, fb.ack + fb.window);
  if (seq_gt(fb.ack, f.snd_una)) {
    acknowledge(flow, fb.ack);
  } else {
    if (fb.payload == 0 && f.snd_una != f.snd_max) ++counters_.duplicate_acks;
    if (f.peer_window < f.mss) f.retries = 0;  // closed, but there
    if (was_short && f.snd_una == f.snd_max) {
      f.retries = 0;
      if (!window_short(f)) f.backoff = 0;
      restart_rto(flow);
    }
  }
  if (f.rdma && seq_gt(f.snd_edge, f.granted)) reports_queue_.push(flow);
  if (f.unsent != kNil && may_send(f)) sends_.push(flow);
}

void TcpTx::acknowledge(FlowId flow, std::uint32_t ack) {
  Flow& f = flows_[flow.v];
  while (!f.queue.empty() && seq_le(segments_[f.queue.head].end(), ack)) {
    const Segment& s = segments_[f.queue.head];
    if (f.unsent == f.queue.head) f.unsent = s.next;
    if (s.completes_wqe && f.wqes_acked++ == 0) reports_queue_.push(flow);
    if (s.flags & TcpHeader::kSyn) {
      f.established = true;
      report(flow, TxReport::Kind::kSynAcked);
    }
    if (s.flags & TcpHeader::kFin) report(flow, TxReport::Kind::kFinAcked);
    f.queue.drop_front(segments_);
  }
  f.snd_una = ack;
  f.snd_nxt = seq_max(f.snd_nxt, ack);
  if (f.timing && seq_ge(ack, f.timed_seq)) {
    f.rtt.sample(now() - f.timed_at);
    f.timing = false;
  }
  f.backoff = f.retries = 0;
  restart_rto(flow);
}

// ---- Reports: nothing waits in a link's place, so no peer or neighbour can block the others.

void TcpTx::report(FlowId flow, TxReport::Kind kind) {
  flows_[flow.v].reports |= bit(kind);
  reports_queue_.push(flow);
}

void TcpTx::serve_reports() {
  const FlowId flow = reports_queue_.front();
  Flow& f = flows_[flow.v];
  bool more = false;
  if (f.wqes_acked != 0) {
    if (acked->can_push()) acked->push({flow, std::exchange(f.wqes_acked, 0)});
    else more = true;
  }
  if (f.rdma && !f.fin_queued && seq_gt(f.snd_edge, f.granted)) {
    if (credit->can_push()) credit->push({flow, f.snd_edge - std::exchange(f.granted, f.snd_edge)});
    else more = true;
  }
  if (f.reports != 0) {
    if (reports->can_push()) {
      const unsigned kind = static_cast<unsigned>(__builtin_ctz(f.reports));
      f.reports = static_cast<std::uint8_t>(f.reports & (f.reports - 1));
      reports->push({static_cast<TxReport::Kind>(kind), flow});
    }
    more |= f.reports != 0;
  }
  reports_queue_.pop();
  if (more) reports_queue_.push(flow);
}

// ---- Timers

void TcpTx::owe_ack(FlowId flow) {
  flows_[flow.v].ack_owed = true;
  acks_.push(flow);
}

// Nothing is in flight, and an FPDU or what is queued may not fit: only the peer can help, and its word may be lost.
bool TcpTx::window_short(const Flow& f) const {
  return (f.unsent != kNil || (f.rdma && !f.fin_queued)) && f.snd_edge - f.snd_nxt < f.mss;
}

void TcpTx::restart_rto(FlowId flow) {
  const Flow& f = flows_[flow.v];
  if (f.snd_una != f.snd_max || window_short(f)) rto_.start(flow, now() + f.rtt.rto(rto_limits_, f.backoff));
  else rto_.stop(flow);
}

void TcpTx::run_timers() {
  for (FlowId flow = ack_timers_.expired(now()); flow != kNoFlow; flow = ack_timers_.expired(now())) {
    if (flows_[flow.v].to_acknowledge != 0) owe_ack(flow);
  }
  for (FlowId flow = rto_.expired(now()); flow != kNoFlow; flow = rto_.expired(now())) on_timeout(flow);
}

// RFC 6298 section 5.4 to 5.7: go back to the first octet that was not acknowledged.
void TcpTx::on_timeout(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.retries >= (f.established ? config_.max_retries : config_.syn_retries)) {
    return report(flow, TxReport::Kind::kGaveUp);
  }
  ++f.retries;
  if (f.backoff < 0xff) ++f.backoff;
  f.timing = false;
  if (f.snd_una != f.snd_max) {
    ++counters_.timeouts;
    f.unsent = f.queue.head;
    f.snd_nxt = segments_[f.unsent].seq;
    sends_.push(flow);
  } else {
    f.probe_owed = true;
    acks_.push(flow);
  }
  restart_rto(flow);
}

// ---- Frames

void TcpTx::append(FlowId flow, Segment segment) {
  Flow& f = flows_[flow.v];
  segment.seq = f.snd_end;
  f.snd_end = segment.end();
  const std::uint32_t slot = segments_.take();
  segments_[slot] = std::move(segment);
  f.queue.append(segments_, slot);
  if (f.unsent == kNil) f.unsent = slot;
  if (f.snd_una == f.snd_max && !rto_.running(flow)) restart_rto(flow);
}

// A segment that was sent before may go again whatever the window is: it asks for the window as well.
bool TcpTx::may_send(const Flow& f) const {
  const Segment& s = segments_[f.unsent];
  return seq_lt(s.seq, f.snd_max) || seq_le(s.seq + s.payload_bytes, f.snd_edge);
}

bool TcpTx::send_owed_ack() {
  while (!acks_.empty()) {
    const FlowId flow = acks_.pop();
    Flow& f = flows_[flow.v];
    if (!f.ack_owed && !f.probe_owed) continue;  // a segment has carried it meanwhile, or the flow is gone
    if (f.probe_owed) {
      ++counters_.probes;
      f.probe_owed = false;
      send_bare(flow, f.snd_una - 1, TcpHeader::kAck);  // not acceptable, hence answered (RFC 9293 section 3.8.6.1)
    } else {
      ++counters_.pure_acks;
      send_bare(flow, f.snd_max, TcpHeader::kAck);
    }
    return true;
  }
  return false;
}

bool TcpTx::send_queued() {
  while (!sends_.empty()) {
    const FlowId flow = sends_.pop();
    const Flow& f = flows_[flow.v];
    if (f.unsent == kNil || !may_send(f)) continue;
    send(flow, f.unsent);
    if (f.unsent != kNil && may_send(f)) sends_.push(flow);
    return true;
  }
  return false;
}

void TcpTx::send(FlowId flow, std::uint32_t slot) {
  Flow& f = flows_[flow.v];
  Segment& s = segments_[slot];
  const bool again = seq_lt(s.seq, f.snd_max);
  f.unsent = s.next;
  f.snd_nxt = s.end();
  if (again) {
    ++counters_.retransmissions;
  } else {
    f.snd_max = f.snd_nxt;
    if (!f.timing) {
      f.timing = true;
      f.timed_seq = f.snd_max;
      f.timed_at = now();
    }
    if (!rto_.running(flow) || f.snd_una == s.seq) restart_rto(flow);
  }
  if (!s.buf) return send_bare(flow, s.seq, s.flags);
  if (again && s.buf.shared()) {  // somebody still reads the frame that was sent first
    BufferRef copy = pool_.take();
    std::memcpy(copy->bytes() + kFrameHeadroom, s.buf->bytes() + s.payload_at, s.payload_bytes);
    s.buf = std::move(copy);
    s.payload_at = kFrameHeadroom;
  }
  tcp::SegmentFields fields;
  fields.seq = s.seq;
  fields.ack = f.rcv_nxt;
  fields.flags = s.flags;
  fields.window = advertise(f, false);
  counters_.payload_bytes += s.payload_bytes;
  push_frame(f.key, f.peer_mac, fields, s.buf, s.payload_at, s.payload_bytes);
}

void TcpTx::send_bare(FlowId flow, std::uint32_t seq, std::uint8_t flags) {
  Flow& f = flows_[flow.v];
  const bool syn = flags & TcpHeader::kSyn;
  tcp::SegmentFields fields;
  fields.seq = seq;
  fields.flags = flags;
  if (flags & TcpHeader::kAck) fields.ack = f.rcv_nxt;
  fields.window = advertise(f, syn);
  if (syn) {
    fields.options.mss = config_.mss();
    if (f.scaling) fields.options.window_scale = config_.window_scale();
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

// The window field of the segment that is leaving. Whatever was owed to the peer goes with it. The window of a SYN is
// never scaled (RFC 7323 section 2.2).
std::uint16_t TcpTx::advertise(Flow& f, bool syn) {
  const std::uint8_t scale = f.scaling && !syn ? config_.window_scale() : 0;
  const std::uint32_t units = std::min<std::uint32_t>(0xffff, (f.rcv_edge - f.rcv_nxt) >> scale);
  f.told_edge = f.rcv_nxt + (units << scale);
  f.ack_owed = false;
  f.to_acknowledge = 0;
  const FlowId flow{static_cast<std::uint32_t>(&f - flows_.data())};
  ack_timers_.stop(flow);
  return static_cast<std::uint16_t>(units);
}

std::string TcpTx::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Flow& f = flows_[i];
    if (!f.open || f.snd_una == f.snd_end) continue;
    text += (text.empty() ? "" : ", ") + std::string("flow ") + std::to_string(i) + ": ACK of " +
            std::to_string(f.snd_end - f.snd_una) + " octets";
  }
  return text;
}

}  // namespace rnic
