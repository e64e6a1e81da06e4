// How tcp_tx finds losses, and how much may be in flight meanwhile: RFC 5681, 6582 and 6298 section 5.
#include <algorithm>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::TxReport;
using wire::seq_gt;
using wire::seq_min;

std::uint32_t TcpTx::next_to_send(Flow& f) {
  return f.loss.next_to_send(segments_, tcp::CongestionControl::cwnd(f.congestion), f.snd_edge);
}

// Up to where the segmenter may send: both windows hold it. Octets that the peer holds behind a hole make room for new
// ones, which keep the ACKs coming.
std::uint32_t TcpTx::credit_edge(const Flow& f) const {
  return seq_min(f.snd_edge, f.loss.snd_una() + f.loss.held_by_peer() + tcp::CongestionControl::cwnd(f.congestion));
}

void TcpTx::on_duplicate_ack(Flow& f) {
  ++counters_.duplicate_acks;
  if (f.loss.on_duplicate_ack(segments_, f.mss)) on_loss(f);
}

// Once a window of data (RFC 3168 section 6.1.2); a loss in it has done it already.
void TcpTx::on_echo(Flow& f) {
  if (f.loss.recovering() || !seq_gt(f.loss.snd_una(), f.ecn_recover)) return;
  ++counters_.congestion_echoes;
  congestion_->on_ecn(f.congestion, f.loss.flight());
  f.ecn_recover = f.loss.snd_nxt();
  f.cwr_owed = true;
}

// Fast recovery has begun.
void TcpTx::on_loss(Flow& f) {
  ++counters_.fast_retransmits;
  f.ecn_recover = f.loss.snd_nxt();
  f.cwr_owed = f.ecn;
  congestion_->on_loss(f.congestion, f.loss.flight());
}

void TcpTx::on_new_ack(FlowId flow, tcp::AckedOctets octets) {
  Flow& f = flows_[flow.v];
  octets.snd_una = f.loss.snd_una();
  octets.snd_nxt = f.loss.snd_nxt();
  octets.now_ns = now() * clock().period_ps() / 1000;
  octets.srtt_ns = f.rtt.srtt() * clock().period_ps() / 1000;
  congestion_->on_marks(f.congestion, octets);
  const bool may_grow = f.loss.on_new_ack(segments_, octets.bytes, f.mss);
  if (f.rdma && may_grow && !octets.ece) congestion_->on_ack(f.congestion, octets);
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
  if (f.loss.flight() != 0) {
    ++counters_.timeouts;
    congestion_->on_timeout(f.congestion, f.loss.flight(), repeated);
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
