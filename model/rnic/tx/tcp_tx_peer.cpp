// What tcp_tx learns from the peer and from routers, and what it does when the peer is silent. A flow's policies
// decide.
#include <optional>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::AckPolicy;
using tcp::kNil;
using tcp::RetransmissionTimer;
using tcp::RxFeedback;
using tcp::TxReport;
using wire::seq_gt;
using wire::seq_lt;
using wire::TcpHeader;

void TcpTx::on_feedback(const RxFeedback& fb) {
  Flow& f = flows_[fb.flow.v];
  if (!f.open) return;
  if (fb.path_mtu != 0) return on_path_mtu(fb.flow, fb);
  if (f.acks.on_feedback(ack_settings_, fb)) acks_.push(fb.flow);
  counters_.congestion_marks += f.congestion.ecn() && fb.acks && fb.payload != 0 && fb.ce;
  if (fb.acks) on_ack(fb.flow, fb);
  answer(fb.flow, fb.answer);
}

// RFC 9293 section 3.10.7.4, fifth.
void TcpTx::on_ack(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  if (seq_gt(fb.ack, f.loss.snd_nxt())) return challenge(flow);
  if (seq_lt(fb.ack, f.loss.snd_una())) return;
  const bool was_short = window_short(f);
  const bool same_window = f.window.update(fb.ack, fb.window);
  const std::uint32_t news =
      f.sack && fb.sack_blocks != 0 ? f.loss.on_sack(segments_, fb.ack, fb.sack.data(), fb.sack_blocks) : 0;
  counters_.sacked_bytes += news;
  const bool ece = f.congestion.ecn() && (fb.flags & TcpHeader::kEce);
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
    if (f.window.advertised() < f.path.mss()) f.timer.on_closed_window();
    if (f.loss.flight() == 0 && (was_short || keeps_alive(f))) {
      f.timer.on_answer(window_short(f));
      restart_rto(flow);
    }
  }
  if (news != 0 && f.loss.find_losses(segments_)) on_loss(f);
  if (ece && !f.loss.recovering()) {
    counters_.congestion_echoes += f.congestion.on_echo(*congestion_, f.loss.snd_una(), f.loss.snd_nxt());
  }
  resume(flow);
}

// What may be sent or granted now.
void TcpTx::resume(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (grantable(f) != 0) reports_queue_.push(flow);
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
  std::optional<std::uint32_t> echo;
  if (f.timestamps && fb.timestamps) echo = fb.stamps.echo_reply;
  f.timer.measure(timer_settings_, fb.ack, echo, now());
  f.timer.on_new_ack();
  restart_rto(flow);
}

std::uint32_t TcpTx::next_to_send(Flow& f) {
  return f.loss.next_to_send(segments_, f.congestion.octets(), f.window.edge());
}

// Octets that the segmenter may be granted: both windows hold them. What the peer has out of order makes room.
std::uint32_t TcpTx::grantable(const Flow& f) const {
  return f.rdma ? f.window.credit(f.loss.snd_una() + f.loss.held_by_peer() + f.congestion.octets()) : 0;
}

void TcpTx::on_duplicate_ack(Flow& f) {
  ++counters_.duplicate_acks;
  if (f.loss.on_duplicate_ack(segments_, f.path.mss())) on_loss(f);
}

// Fast recovery has begun.
void TcpTx::on_loss(Flow& f) {
  ++counters_.fast_retransmits;
  f.congestion.on_loss(*congestion_, f.loss.flight(), f.loss.snd_nxt());
}

void TcpTx::on_new_ack(FlowId flow, tcp::AckedOctets octets) {
  Flow& f = flows_[flow.v];
  octets.snd_una = f.loss.snd_una();
  octets.snd_nxt = f.loss.snd_nxt();
  octets.now_ns = now() * clock().period_ps() / 1000;
  octets.srtt_ns = f.timer.srtt() * clock().period_ps() / 1000;
  const bool may_grow = f.loss.on_new_ack(segments_, octets.bytes, f.path.mss());
  f.congestion.on_ack(*congestion_, octets, f.rdma && may_grow);
}

void TcpTx::on_path_mtu(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  if (!f.path.on_report(fb.path_mtu, f.loss.in_flight(fb.seq), config_.path_mtu_min, f.timestamps)) {
    ++counters_.path_mtu_ignored;
    return;
  }
  ++counters_.path_mtu_changes;
  f.congestion.set_mss(f.path.mss());
  counters_.cuts += f.loss.fit_to(segments_, f.path.mss(), pool_);
  report(flow, TxReport::Kind::kEmss);
  f.timer.forget();
  resume(flow);
}

// ---- What is to be acknowledged

void TcpTx::answer(FlowId flow, RxFeedback::Answer answer) {
  Flow& f = flows_[flow.v];
  if (answer == RxFeedback::Answer::kChallenge) {
    challenge(flow);
  } else if (answer != RxFeedback::Answer::kNone) {
    settle(flow, f.acks.on_segment(ack_settings_, answer == RxFeedback::Answer::kSoon));
  }
  if (f.acks.window_update_due(ack_settings_)) owe_ack(flow);
}

void TcpTx::settle(FlowId flow, AckPolicy::Due due) {
  if (due == AckPolicy::Due::kNow) {
    acks_.push(flow);
  } else if (due == AckPolicy::Due::kDelayed && !ack_timers_.running(flow)) {
    ack_timers_.start(flow, now() + ack_settings_.delay);
  }
}

void TcpTx::owe_ack(FlowId flow) {
  flows_[flow.v].acks.owe();
  acks_.push(flow);
}

void TcpTx::challenge(FlowId flow) {
  if (flows_[flow.v].acks.challenge(ack_settings_, now())) acks_.push(flow);
  else ++counters_.challenges_withheld;
}

// ---- Timers

// Nothing is in flight, and an FPDU or what is queued may not fit: only the peer can help, and its word may be lost.
bool TcpTx::window_short(const Flow& f) const {
  return (f.loss.has_unsent() || (f.rdma && !f.fin_queued)) && !f.window.holds(f.loss.snd_nxt(), f.path.mss());
}

RetransmissionTimer::Awaits TcpTx::awaits(const Flow& f) const {
  if (f.loss.flight() != 0) return RetransmissionTimer::Awaits::kAck;
  if (window_short(f)) return RetransmissionTimer::Awaits::kWindow;
  return keeps_alive(f) ? RetransmissionTimer::Awaits::kSign : RetransmissionTimer::Awaits::kNothing;
}

void TcpTx::restart_rto(FlowId flow) {
  const Flow& f = flows_[flow.v];
  const Cycle length = f.timer.length(timer_settings_, awaits(f));
  if (length != kNever) rto_.start(flow, now() + length);
  else rto_.stop(flow);
}

// An idle flow needs no retransmission timer, so that timer asks whether the peer is there (RFC 9293 section 3.8.4).
bool TcpTx::keeps_alive(const Flow& f) const {
  return timer_settings_.keepalive != 0 && f.established && !f.fin_queued;
}

void TcpTx::run_timers() {
  for (FlowId flow = ack_timers_.expired(now()); flow != kNoFlow; flow = ack_timers_.expired(now())) {
    if (flows_[flow.v].acks.on_delay_over()) acks_.push(flow);
  }
  for (FlowId flow = rto_.expired(now()); flow != kNoFlow; flow = rto_.expired(now())) on_timeout(flow);
}

// RFC 6298 section 5.4 to 5.7: all that was not acknowledged goes again, as the congestion window grows from one
// segment.
void TcpTx::on_timeout(FlowId flow) {
  Flow& f = flows_[flow.v];
  const bool repeated = f.timer.backed_off();
  if (!f.timer.on_expiry(timer_settings_, f.established)) return report(flow, TxReport::Kind::kGaveUp);
  if (f.loss.flight() != 0) {
    ++counters_.timeouts;
    f.congestion.on_timeout(*congestion_, f.loss.flight(), repeated);
    f.loss.on_timeout(segments_);
    sends_.push(flow);
  } else {
    ++(window_short(f) ? counters_.probes : counters_.keepalives);
    f.probe_owed = true;
    acks_.push(flow);
  }
  restart_rto(flow);
}

}  // namespace rnic
