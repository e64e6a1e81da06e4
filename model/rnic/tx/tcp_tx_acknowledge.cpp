// What tcp_tx tells the peer of what was received: when to acknowledge, what is kept behind holes, which packets were
// marked.
#include <algorithm>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::RxFeedback;
using wire::seq_ge;
using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;
using wire::TcpHeader;

void TcpTx::answer(FlowId flow, RxFeedback::Answer answer) {
  Flow& f = flows_[flow.v];
  if (answer == RxFeedback::Answer::kNow) {
    owe_ack(flow);
  } else if (answer == RxFeedback::Answer::kChallenge) {
    challenge(flow);
  } else if (answer == RxFeedback::Answer::kSoon) {
    if (++f.to_acknowledge >= config_.ack_every) owe_ack(flow);
    else if (!ack_timers_.running(flow)) ack_timers_.start(flow, now() + ack_delay_);
  }
  // A window that was short has opened again (RFC 9293 section 3.8.6.2.2).
  const std::uint32_t step = std::min<std::uint32_t>(2u * config_.mss(), config_.window_bytes / 2);
  if (seq_lt(f.told_edge, f.rcv_nxt + step) && seq_ge(f.rcv_edge, f.told_edge + step)) owe_ack(flow);
}

void TcpTx::owe_ack(FlowId flow) {
  flows_[flow.v].ack_owed = true;
  acks_.push(flow);
}

// RFC 5961 section 7, for each flow by itself: a limit that flows share would tell of one by another.
void TcpTx::challenge(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.challenges == 0 || now() - f.challenged_at >= challenge_interval_) {
    f.challenged_at = now();
    f.challenges = 0;
  }
  if (f.challenges == config_.challenge_acks) {
    ++counters_.challenges_withheld;
    return;
  }
  ++f.challenges;
  owe_ack(flow);
}

// The latest run first, then those that were told before and are not part of it (RFC 2018 section 4).
void TcpTx::note_kept(Flow& f, const wire::SackBlock& run) {
  std::array<wire::SackBlock, wire::TcpOptions::kMaxSackBlocks> told = f.kept;
  const std::uint8_t before = std::exchange(f.kept_runs, std::uint8_t{0});
  if (run.left != run.right && seq_gt(run.right, f.rcv_nxt)) f.kept[f.kept_runs++] = run;
  for (std::uint8_t i = 0; i < before && f.kept_runs < f.kept.size(); ++i) {
    const bool part = run.left != run.right && seq_ge(told[i].left, run.left) && seq_le(told[i].right, run.right);
    if (!part && seq_gt(told[i].left, f.rcv_nxt)) f.kept[f.kept_runs++] = told[i];
  }
}

// RFC 3168 section 6.1.3: an echo in every ACK until the peer says that it reduced its window. DCTCP says of each octet
// whether it was marked: an ACK covers no change of the mark (RFC 8257 section 3.2).
void TcpTx::note_mark(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  if (!f.ecn || !fb.acks || fb.payload == 0) return;
  counters_.congestion_marks += fb.ce;
  if (config_.congestion != tcp::CongestionAlgorithm::kDctcp) {
    if (fb.flags & TcpHeader::kCwr) f.ce = false;
    if (fb.ce) f.ce = true;
    return;
  }
  if (f.ce == fb.ce) return;
  if (f.to_acknowledge != 0 && !f.old_ack_owed) {
    f.old_ack_owed = true;
    f.old_ce = f.ce;
    f.unmarked_ack = f.rcv_nxt;
    acks_.push(flow);
  }
  f.ce = fb.ce;
}

bool TcpTx::send_owed_ack() {
  while (!acks_.empty()) {
    const FlowId flow = acks_.pop();
    Flow& f = flows_[flow.v];
    if (f.old_ack_owed) {
      send_old_ack(flow);
    } else if (f.probe_owed) {
      f.probe_owed = false;
      send_bare(flow, f.snd_una - 1, TcpHeader::kAck);  // not acceptable, hence answered (RFC 9293 section 3.8.6.1)
    } else if (f.ack_owed) {
      ++counters_.pure_acks;
      send_bare(flow, f.snd_nxt, TcpHeader::kAck);
    } else {
      continue;  // a segment has carried it meanwhile, or the flow is gone
    }
    return true;
  }
  return false;
}

// What came before the mark changed; the rest is still owed.
void TcpTx::send_old_ack(FlowId flow) {
  Flow& f = flows_[flow.v];
  const bool ce = f.ce;
  const std::uint32_t rcv_nxt = f.rcv_nxt;
  ++counters_.pure_acks;
  f.old_ack_owed = false;
  f.ce = f.old_ce;
  f.rcv_nxt = f.unmarked_ack;
  const std::uint8_t owed = rcv_nxt == f.unmarked_ack ? std::uint8_t{0} : std::uint8_t{1};
  send_bare(flow, f.snd_nxt, TcpHeader::kAck);
  f.ce = ce;
  f.rcv_nxt = rcv_nxt;
  f.to_acknowledge = owed;
  if (owed >= config_.ack_every) owe_ack(flow);
  else if (owed != 0) ack_timers_.start(flow, now() + ack_delay_);
}

}  // namespace rnic
