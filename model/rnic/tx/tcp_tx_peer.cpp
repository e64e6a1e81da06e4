// What tcp_tx learns from the peer, and what it does when the peer is silent.
#include <algorithm>
#include <utility>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::kNil;
using tcp::RxFeedback;
using tcp::TxReport;
using wire::seq_ge;
using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;
using wire::seq_max;
using wire::TcpHeader;

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
  if (seq_gt(fb.ack, f.snd_nxt)) return owe_ack(flow);
  if (seq_lt(fb.ack, f.snd_una)) return;
  const bool same_window = fb.window == std::exchange(f.peer_window, fb.window);
  const bool was_short = window_short(f);
  f.snd_edge = seq_max(f.snd_edge, fb.ack + fb.window);
  if (seq_gt(fb.ack, f.snd_una)) {
    const std::uint32_t bytes = fb.ack - f.snd_una, flight = pipe(f);
    acknowledge(flow, fb.ack);
    on_new_ack(flow, bytes, flight);
  } else {
    if (fb.payload == 0 && same_window && f.snd_una != f.snd_nxt) on_duplicate_ack(flow);
    if (f.peer_window < f.mss) f.retries = 0;  // closed, but there
    if (was_short && f.snd_una == f.snd_nxt) {
      f.retries = 0;
      if (!window_short(f)) f.backoff = 0;
      restart_rto(flow);
    }
  }
  resume(flow);
}

// What may be sent or granted now.
void TcpTx::resume(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.rdma && seq_gt(credit_edge(f), f.granted)) reports_queue_.push(flow);
  if (next_to_send(f) != kNil) sends_.push(flow);
}

void TcpTx::acknowledge(FlowId flow, std::uint32_t ack) {
  Flow& f = flows_[flow.v];
  while (!f.queue.empty() && seq_le(segments_[f.queue.head()].end(), ack)) {
    const Segment& s = segments_[f.queue.head()];
    if (s.completes_wqe && f.wqes_acked++ == 0) reports_queue_.push(flow);
    if (s.flags & TcpHeader::kSyn) {
      f.established = true;
      report(flow, TxReport::Kind::kSynAcked);
    }
    if (s.flags & TcpHeader::kFin) report(flow, TxReport::Kind::kFinAcked);
    f.queue.drop_front(segments_);
  }
  f.snd_una = ack;
  if (f.timing && seq_ge(ack, f.timed_seq)) {
    f.rtt.sample(now() - f.timed_at);
    f.timing = false;
  }
  f.backoff = f.retries = 0;
  restart_rto(flow);
}

void TcpTx::owe_ack(FlowId flow) {
  flows_[flow.v].ack_owed = true;
  acks_.push(flow);
}

// Nothing is in flight, and an FPDU or what is queued may not fit: only the peer can help, and its word may be lost.
bool TcpTx::window_short(const Flow& f) const {
  return (f.queue.unsent() != kNil || (f.rdma && !f.fin_queued)) && f.snd_edge - f.snd_nxt < f.mss;
}

void TcpTx::restart_rto(FlowId flow) {
  const Flow& f = flows_[flow.v];
  if (f.snd_una != f.snd_nxt || window_short(f)) rto_.start(flow, now() + f.rtt.rto(rto_limits_, f.backoff));
  else rto_.stop(flow);
}

void TcpTx::run_timers() {
  for (FlowId flow = ack_timers_.expired(now()); flow != kNoFlow; flow = ack_timers_.expired(now())) {
    if (flows_[flow.v].to_acknowledge != 0) owe_ack(flow);
  }
  for (FlowId flow = rto_.expired(now()); flow != kNoFlow; flow = rto_.expired(now())) on_timeout(flow);
}

}  // namespace rnic
