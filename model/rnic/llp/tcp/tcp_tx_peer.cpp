// tcp_tx's input from the peer and from routers, and its reaction to a silent peer.
#include "model/rnic/llp/tcp/tcp_tx.h"

namespace rnic {

using llp::kNil;
using tcp::AckPolicy;
using tcp::RxFeedback;
using tcp::Sender;
using tcp::TxReport;

void TcpTx::on(Use& u, const RxFeedback& fb) {
  FlowTx& f = u.row;
  if (!f.open || f.reset) return;
  if (fb.reset) return fall_silent(u);
  if (fb.path_mtu != 0) return on_path_mtu(u, fb);
  if (f.acks.on_feedback(ack_settings_, fb)) u.ack = true;
  counters_.congestion_marks += f.sender.ecn() && fb.acks && fb.payload != 0 && fb.ce;
  if (fb.acks) on_ack(u, fb);
  answer(u, fb.answer);
}

void TcpTx::on_ack(Use& u, const RxFeedback& fb) {
  const Sender::AckOutcome outcome = u.row.sender.on_ack(resources_, fb, now());
  if (outcome.old) return;
  counters_.count(outcome);
  on_acked(u, outcome.acked);
  if (ack_trace_.on()) ack_trace_.learned(u.flow, owner(u.flow), u.row.sender.snd_una());
  if (outcome.restart_timer) restart_rto(u);
  resume(u);
}

void TcpTx::on_acked(Use& u, const tcp::LossRecovery::Acked& segments) {
  give_back(u.flow, segments.octets, segments.segments);
  u.row.wqes_acked += segments.wqes;
  if (segments.syn) report(u, TxReport::Kind::kSynAcked);
  if (segments.fin) report(u, TxReport::Kind::kFinAcked);
}

void TcpTx::on_path_mtu(Use& u, const RxFeedback& fb) {
  std::uint32_t cuts = 0;
  if (!u.row.sender.on_path_mtu(resources_, fb, cuts)) {
    ++counters_.path_mtu_ignored;
    return;
  }
  ++counters_.path_mtu_changes;
  count_cuts(u, cuts);
  report(u, TxReport::Kind::kEmss);
  resume(u);
}

// After the peer's RST, until the firmware has heard of it: data handed down meanwhile is dropped.
void TcpTx::fall_silent(Use& u) {
  clear(u);
  u.row.sender = {};
  u.row.sender.finish();
  u.row.acks = {};
  u.row.probe_owed = false;
  u.row.reset = true;
  rto_.stop(u.flow.v);
  ack_timers_.stop(u.flow.v);
}

// What may be sent or granted now.
void TcpTx::resume(Use& u) {
  Sender& sender = u.row.sender;
  if (const std::uint32_t cuts = sender.fit_to_window(resources_); cuts != 0) count_cuts(u, cuts);
  u.credit = true;
  if (sender.next_to_send(resources_) != kNil) u.segment = true;
}

// ---- Acknowledgements that are due

void TcpTx::answer(Use& u, RxFeedback::Answer answer) {
  AckPolicy& acks = u.row.acks;
  if (answer == RxFeedback::Answer::kChallenge) {
    challenge(u);
  } else if (answer != RxFeedback::Answer::kNone) {
    settle(u, acks.on_segment(ack_settings_, answer == RxFeedback::Answer::kSoon));
  }
  if (acks.window_update_due(ack_settings_)) owe_ack(u);
}

void TcpTx::settle(Use& u, AckPolicy::Due due) {
  if (due == AckPolicy::Due::kNow) {
    u.ack = true;
  } else if (due == AckPolicy::Due::kDelayed && !ack_timers_.running(u.flow.v)) {
    ack_timers_.start(u.flow.v, now() + ack_settings_.delay);
  }
}

void TcpTx::owe_ack(Use& u) {
  u.row.acks.owe();
  u.ack = true;
}

void TcpTx::challenge(Use& u) {
  if (u.row.acks.challenge(ack_settings_, now())) u.ack = true;
  else ++counters_.challenges_withheld;
}

// ---- Timers

void TcpTx::restart_rto(Use& u) {
  const Cycle length = u.row.sender.timeout(resources_);
  rto_.start(u.flow.v, length != kNever ? now() + length : kNever);
}

// An idle flow has no timer except keepalive.
void TcpTx::on_queued(Use& u) {
  const Sender& sender = u.row.sender;
  if (sender.idle() && (!rto_.running(u.flow.v) || sender.keeps_alive(resources_))) restart_rto(u);
}

void TcpTx::owe_probe(Use& u) {
  u.row.probe_owed = true;
  u.ack = true;
}

// What has restarted or stopped it while its row was on the way comes first: then there is nothing to do.
void TcpTx::on(Use& u, Expired timer) {
  TimerWheel& timers = timer.retransmission ? rto_ : ack_timers_;
  if (!timers.held(u.flow.v)) return;
  timers.stop(u.flow.v);
  if (timer.retransmission) on_timeout(u);
  else if (u.row.acks.on_delay_over()) u.ack = true;
}

void TcpTx::on_timeout(Use& u) {
  Sender& sender = u.row.sender;
  const Cycle waited = sender.timeout(resources_);
  switch (sender.on_timeout(resources_)) {
    case Sender::Expiry::kGaveUp:
      return report(u, TxReport::Kind::kGaveUp);
    case Sender::Expiry::kResend:
      ++counters_.timeouts;
      if (!u.before.repairing) repairing_.add_taken(waited);
      u.segment = true;
      break;
    case Sender::Expiry::kGoOn:
    case Sender::Expiry::kPiece:
      resume(u);
      break;
    case Sender::Expiry::kProbe:
      ++counters_.probes;
      owe_probe(u);
      resume(u);
      break;
    case Sender::Expiry::kKeepalive:
      ++counters_.keepalives;
      owe_probe(u);
      break;
  }
  restart_rto(u);
}

}  // namespace rnic
