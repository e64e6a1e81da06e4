// How tcp_tx finds losses, and how much may be in flight meanwhile: RFC 5681, 6582 and 6298 section 5.
#include <algorithm>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::kNil;
using tcp::RxFeedback;
using tcp::TxReport;
using wire::seq_ge;
using wire::seq_gt;
using wire::seq_le;
using wire::seq_min;

namespace {

constexpr std::uint8_t kDuplicateAcks = 3;  // RFC 5681's DupThresh

}  // namespace

// Octets in the network (RFC 6675 section 4): sent, and neither with the peer nor lost.
std::uint32_t TcpTx::pipe(const Flow& f) {
  const std::uint32_t sent = f.snd_nxt - f.snd_una, gone = f.queue.lost() + f.queue.held_by_peer();
  return sent > gone ? sent - gone : 0;
}

// The segment that may leave next; kNil if there is none. What is lost goes before what is new, and goes whatever the
// peer's window is: it asks for the window as well.
std::uint32_t TcpTx::next_to_send(Flow& f) {
  if (f.queue.lost() != 0) {
    const std::uint32_t slot = f.queue.next_lost(segments_);
    return f.resend_now || fits(f, segments_[slot]) ? slot : kNil;
  }
  const std::uint32_t slot = f.queue.unsent();
  if (slot == kNil || !fits(f, segments_[slot])) return kNil;
  return seq_le(segments_[slot].seq + segments_[slot].payload_bytes, f.snd_edge) ? slot : kNil;
}

// One segment may always be in flight.
bool TcpTx::fits(const Flow& f, const Segment& s) const {
  const std::uint32_t in_flight = pipe(f);
  return in_flight == 0 || in_flight + s.length() <= tcp::CongestionControl::cwnd(f.congestion);
}

// Up to where the segmenter may send: both windows hold it. Octets that the peer holds behind a hole make room for new
// ones, which keep the ACKs coming.
std::uint32_t TcpTx::credit_edge(const Flow& f) const {
  return seq_min(f.snd_edge, f.snd_una + f.queue.held_by_peer() + tcp::CongestionControl::cwnd(f.congestion));
}

void TcpTx::on_duplicate_ack(FlowId flow) {
  Flow& f = flows_[flow.v];
  ++counters_.duplicate_acks;
  if (f.duplicate_acks < 0xff) ++f.duplicate_acks;
  if (!f.sack) f.queue.count_held(f.mss);
  if (f.duplicate_acks != kDuplicateAcks || f.recovery != Recovery::kNone) return;
  // Those of what a timeout sent twice tell of no loss (RFC 6582 section 3.2 step 2), unless SACK makes them news.
  if (f.sack || seq_gt(f.snd_una, f.recover)) enter_fast_recovery(flow);
}

// The octets that SACK brings news of. Blocks of what was never sent or is acknowledged already say nothing.
bool TcpTx::apply_sack(Flow& f, const RxFeedback& fb) {
  std::uint32_t news = 0;
  for (std::uint8_t i = 0; i < fb.sack_blocks; ++i) {
    const wire::SackBlock& block = fb.sack[i];
    if (seq_gt(block.right, block.left) && seq_gt(block.left, fb.ack) && seq_le(block.right, f.snd_nxt)) {
      news += f.queue.mark_held(segments_, block);
    }
  }
  counters_.sacked_bytes += news;
  return news != 0;
}

// RFC 6675 section 5: what lies below three segments that the peer has is lost.
void TcpTx::find_losses(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.recovery == Recovery::kTimeout || f.snd_una == f.snd_nxt) return;
  const bool head_lost = f.queue.mark_lost_below_held(segments_, kDuplicateAcks);
  if (head_lost && f.recovery == Recovery::kNone) enter_fast_recovery(flow);
}

// Once a window of data (RFC 3168 section 6.1.2); a loss in it has done it already.
void TcpTx::on_echo(Flow& f) {
  if (f.recovery != Recovery::kNone || !seq_gt(f.snd_una, f.ecn_recover)) return;
  ++counters_.congestion_echoes;
  congestion_->on_ecn(f.congestion, f.snd_nxt - f.snd_una);
  f.ecn_recover = f.snd_nxt;
  f.cwr_owed = true;
}

void TcpTx::enter_fast_recovery(FlowId flow) {
  Flow& f = flows_[flow.v];
  ++counters_.fast_retransmits;
  f.recovery = Recovery::kFast;
  f.recover = f.snd_nxt;
  f.ecn_recover = f.snd_nxt;
  f.cwr_owed = f.ecn;
  congestion_->on_loss(f.congestion, f.snd_nxt - f.snd_una);
  f.resend_now = f.queue.mark_head_lost(segments_);
}

void TcpTx::leave_recovery(Flow& f) {
  f.recovery = Recovery::kNone;
  f.resend_now = false;
}

// RFC 6582 section 3.2 step 3: an ACK that ends a recovery, or one that tells of the next hole.
void TcpTx::on_new_ack(FlowId flow, tcp::AckedOctets octets) {
  Flow& f = flows_[flow.v];
  octets.snd_una = f.snd_una;
  octets.snd_nxt = f.snd_nxt;
  octets.now_ns = now() * clock().period_ps() / 1000;
  octets.srtt_ns = f.rtt.srtt() * clock().period_ps() / 1000;
  congestion_->on_marks(f.congestion, octets);
  f.duplicate_acks = 0;
  const bool fast = f.recovery == Recovery::kFast;
  if (f.recovery != Recovery::kNone && seq_ge(f.snd_una, f.recover)) leave_recovery(f);
  if (f.recovery == Recovery::kFast) {
    if (!f.sack) f.queue.deflate(octets.bytes > f.mss ? octets.bytes - f.mss : 0);
    f.resend_now = f.queue.mark_head_lost(segments_);
    return;
  }
  if (!f.sack) f.queue.deflate(f.queue.held_by_peer());
  if (f.rdma && !fast && !octets.ece) congestion_->on_ack(f.congestion, octets);
}

// RFC 5681 section 4.1: what was learnt of the path is forgotten when nothing was sent for an RTO.
void TcpTx::restart_if_idle(Flow& f) {
  if (now() - f.sent_at <= f.rtt.rto(rto_limits_, 0)) return;
  const std::uint32_t before = f.congestion.window;
  congestion_->on_idle(f.congestion, config_.initial_window);
  counters_.idle_restarts += f.congestion.window < before;
}

// RFC 6298 section 5.4 to 5.7: all that was not acknowledged goes again, as the congestion window grows from one
// segment.
void TcpTx::on_timeout(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.retries >= (f.established ? config_.max_retries : config_.syn_retries)) {
    return report(flow, TxReport::Kind::kGaveUp);
  }
  const bool repeated = f.backoff != 0;
  ++f.retries;
  if (f.backoff < 0xff) ++f.backoff;
  f.timing = false;
  if (f.snd_una != f.snd_nxt) {
    ++counters_.timeouts;
    congestion_->on_timeout(f.congestion, f.snd_nxt - f.snd_una, repeated);
    leave_recovery(f);
    f.recovery = Recovery::kTimeout;
    f.recover = f.snd_nxt;
    f.queue.mark_all_lost(segments_);
    sends_.push(flow);
  } else {
    ++(window_short(f) ? counters_.probes : counters_.keepalives);
    f.probe_owed = true;
    acks_.push(flow);
  }
  restart_rto(flow);
}

}  // namespace rnic
