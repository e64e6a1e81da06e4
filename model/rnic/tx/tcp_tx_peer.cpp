// What tcp_tx learns from the peer, and what it does when the peer is silent.
#include <algorithm>
#include <utility>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::kNil;
using tcp::RxFeedback;
using tcp::TxReport;
using wire::seq_gt;
using wire::seq_lt;
using wire::seq_max;
using wire::TcpHeader;

void TcpTx::on_feedback(const RxFeedback& fb) {
  Flow& f = flows_[fb.flow.v];
  if (!f.open) return;
  if (fb.path_mtu != 0) return on_path_mtu(fb.flow, fb);
  if (f.acks.on_feedback(ack_settings_, fb)) acks_.push(fb.flow);
  counters_.congestion_marks += f.ecn && fb.acks && fb.payload != 0 && fb.ce;
  if (fb.acks) on_ack(fb.flow, fb);
  answer(fb.flow, fb.answer);
}

// RFC 9293 section 3.10.7.4, fifth. The edge never goes back: a peer that shrinks its window gets what it was promised
// to take, again and again.
void TcpTx::on_ack(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  if (seq_gt(fb.ack, f.loss.snd_nxt())) return challenge(flow);
  if (seq_lt(fb.ack, f.loss.snd_una())) return;
  const bool same_window = fb.window == std::exchange(f.peer_window, fb.window);
  const bool was_short = window_short(f);
  f.snd_edge = seq_max(f.snd_edge, fb.ack + fb.window);
  const std::uint32_t news =
      f.sack && fb.sack_blocks != 0 ? f.loss.on_sack(segments_, fb.ack, fb.sack.data(), fb.sack_blocks) : 0;
  counters_.sacked_bytes += news;
  const bool ece = f.ecn && (fb.flags & TcpHeader::kEce);
  if (seq_gt(fb.ack, f.loss.snd_una())) {
    tcp::AckedOctets octets;
    octets.bytes = fb.ack - f.loss.snd_una();
    octets.flight = f.loss.pipe();
    octets.ece = ece;
    acknowledge(flow, fb);
    on_new_ack(flow, octets);
  } else {
    const bool duplicate = f.sack ? news != 0 : fb.payload == 0 && same_window && f.loss.flight() != 0;
    if (duplicate) on_duplicate_ack(f);
    if (f.peer_window < f.mss) f.retries = 0;  // closed, but there
    if (f.loss.flight() == 0 && (was_short || keeps_alive(f))) {
      f.retries = 0;
      if (!window_short(f)) f.backoff = 0;
      restart_rto(flow);
    }
  }
  if (news != 0 && f.loss.find_losses(segments_)) on_loss(f);
  if (ece) on_echo(f);
  resume(flow);
}

// What may be sent or granted now.
void TcpTx::resume(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.rdma && seq_gt(credit_edge(f), f.granted)) reports_queue_.push(flow);
  if (next_to_send(f) != kNil) sends_.push(flow);
}

void TcpTx::acknowledge(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  const tcp::LossRecovery::Acked done = f.loss.acknowledge(segments_, fb.ack);
  f.wqes_acked += done.wqes;
  if (done.wqes != 0) reports_queue_.push(flow);
  if (done.syn) {
    f.established = true;
    report(flow, TxReport::Kind::kSynAcked);
  }
  if (done.fin) report(flow, TxReport::Kind::kFinAcked);
  measure(f, fb);
  f.backoff = f.retries = 0;
  restart_rto(flow);
}

// Once a round trip. An echoed timestamp is right for a segment that was sent twice as well (RFC 7323 section 4).
void TcpTx::measure(Flow& f, const RxFeedback& fb) {
  if (!f.timing || seq_lt(fb.ack, f.timed_seq)) return;
  f.timing = false;
  if (f.timestamps && fb.timestamps) f.rtt.sample(ack_settings_.clock.since(fb.stamps.echo_reply, now()));
  else f.rtt.sample(now() - f.timed_at);
}

// Nothing is in flight, and an FPDU or what is queued may not fit: only the peer can help, and its word may be lost.
bool TcpTx::window_short(const Flow& f) const {
  return (f.loss.has_unsent() || (f.rdma && !f.fin_queued)) && f.snd_edge - f.loss.snd_nxt() < f.mss;
}

void TcpTx::restart_rto(FlowId flow) {
  const Flow& f = flows_[flow.v];
  if (f.loss.flight() != 0 || window_short(f)) rto_.start(flow, now() + f.rtt.rto(rto_limits_, f.backoff));
  else if (keeps_alive(f)) rto_.start(flow, now() + keepalive_);
  else rto_.stop(flow);
}

// An idle flow needs no retransmission timer, so that timer asks whether the peer is there (RFC 9293 section 3.8.4).
bool TcpTx::keeps_alive(const Flow& f) const { return keepalive_ != 0 && f.established && !f.fin_queued; }

void TcpTx::run_timers() {
  for (FlowId flow = ack_timers_.expired(now()); flow != kNoFlow; flow = ack_timers_.expired(now())) {
    if (flows_[flow.v].acks.on_delay_over()) acks_.push(flow);
  }
  for (FlowId flow = rto_.expired(now()); flow != kNoFlow; flow = rto_.expired(now())) on_timeout(flow);
}

}  // namespace rnic
