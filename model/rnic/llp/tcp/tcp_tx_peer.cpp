// tcp_tx's input from the peer and from routers, and its reaction to a silent peer.
#include "model/rnic/llp/tcp/tcp_tx.h"

namespace rnic {

using llp::kNil;
using tcp::AckPolicy;
using tcp::RxFeedback;
using tcp::Sender;
using tcp::TxReport;

void TcpTx::on_feedback(const RxFeedback& fb) {
  Flow& f = flows_[fb.flow.v];
  if (!f.open || f.reset) return;
  if (fb.reset) return fall_silent(fb.flow);
  if (fb.path_mtu != 0) return on_path_mtu(fb.flow, fb);
  if (f.acks.on_feedback(ack_settings_, fb)) acks_.push(fb.flow);
  counters_.congestion_marks += f.sender.ecn() && fb.acks && fb.payload != 0 && fb.ce;
  if (fb.acks) on_ack(fb.flow, fb);
  account(fb.flow);
  answer(fb.flow, fb.answer);
}

void TcpTx::on_ack(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  const Sender::AckOutcome outcome = f.sender.on_ack(resources_, fb, now());
  if (outcome.old) return;
  counters_.count(outcome);
  on_acked(flow, outcome.acked);
  if (outcome.restart_timer) restart_rto(flow);
  resume(flow);
}

void TcpTx::on_acked(FlowId flow, const tcp::LossRecovery::Acked& segments) {
  give_back(flow, segments.octets, segments.segments);
  flows_[flow.v].wqes_acked += segments.wqes;
  if (segments.wqes != 0) reports_queue_.push(flow);
  if (segments.syn) report(flow, TxReport::Kind::kSynAcked);
  if (segments.fin) report(flow, TxReport::Kind::kFinAcked);
}

void TcpTx::on_path_mtu(FlowId flow, const RxFeedback& fb) {
  std::uint32_t cuts = 0;
  if (!flows_[flow.v].sender.on_path_mtu(resources_, fb, cuts)) {
    ++counters_.path_mtu_ignored;
    return;
  }
  ++counters_.path_mtu_changes;
  count_cuts(flow, cuts);
  report(flow, TxReport::Kind::kEmss);
  resume(flow);
}

// What may be sent or granted now.
void TcpTx::resume(FlowId flow) {
  Sender& sender = flows_[flow.v].sender;
  if (const std::uint32_t cuts = sender.fit_to_window(resources_); cuts != 0) count_cuts(flow, cuts);
  if (sender.grantable() != 0) reports_queue_.push(flow);
  if (sender.next_to_send(resources_) != kNil) sends_.push(flow);
}

// ---- Acknowledgements that are due

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
  } else if (due == AckPolicy::Due::kDelayed && !ack_timers_.running(flow.v)) {
    ack_timers_.start(flow.v, now() + ack_settings_.delay);
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

void TcpTx::restart_rto(FlowId flow) {
  const Cycle length = flows_[flow.v].sender.timeout(resources_);
  rto_.start(flow.v, length != kNever ? now() + length : kNever);
}

// An idle flow has no timer except keepalive.
void TcpTx::on_queued(FlowId flow) {
  const tcp::Sender& sender = flows_[flow.v].sender;
  if (sender.idle() && (!rto_.running(flow.v) || sender.keeps_alive(resources_))) restart_rto(flow);
}

void TcpTx::owe_probe(FlowId flow) {
  flows_[flow.v].probe_owed = true;
  acks_.push(flow);
}

void TcpTx::run_timers() {
  while (ack_timers_.due(now())) {
    const FlowId flow{ack_timers_.take()};
    if (flows_[flow.v].acks.on_delay_over()) acks_.push(flow);
  }
  while (rto_.due(now())) on_timeout(FlowId{rto_.take()});
}

void TcpTx::on_timeout(FlowId flow) {
  const Cycle waited = flows_[flow.v].sender.timeout(resources_);
  switch (flows_[flow.v].sender.on_timeout(resources_)) {
    case Sender::Expiry::kGaveUp:
      return report(flow, TxReport::Kind::kGaveUp);
    case Sender::Expiry::kResend:
      ++counters_.timeouts;
      if (!flows_[flow.v].counted.repairing) repairing_.add_taken(waited);
      account(flow);
      sends_.push(flow);
      break;
    case Sender::Expiry::kGoOn:
    case Sender::Expiry::kPiece:
      resume(flow);
      break;
    case Sender::Expiry::kProbe:
      ++counters_.probes;
      owe_probe(flow);
      resume(flow);
      break;
    case Sender::Expiry::kKeepalive:
      ++counters_.keepalives;
      owe_probe(flow);
      break;
  }
  restart_rto(flow);
}

}  // namespace rnic
