// How much a flow may have in flight, and what reduces it: a loss, a timeout, an echoed mark (RFC 3168 section 6.1.2),
// silence (RFC 5681 section 4.1). By how much, and how it grows again, is up to the algorithm: congestion_control.h.
#pragma once

#include <cstdint>

#include "model/rnic/llp/congestion_control.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// For one flow; the algorithm, an argument of every call, serves all flows of a chip. `flight` is SND.NXT - SND.UNA.
class CongestionWindow {
 public:
  // An initial window of `segments`. `ecn`: both ends agreed on it.
  void open(const llp::CongestionControl& algorithm, std::uint32_t mss, std::uint32_t segments, std::uint32_t snd_una,
            bool ecn) {
    algorithm.open(state_, mss, segments);
    ecn_recover_ = snd_una;
    ecn_ = ecn;
  }
  std::uint32_t octets() const { return llp::CongestionControl::cwnd(state_); }
  std::uint32_t ssthresh() const { return state_.ssthresh; }
  bool ecn() const { return ecn_; }
  // The path takes only shorter segments; the window stays.
  void set_mss(std::uint32_t mss) { state_.mss = mss; }

  // An ACK of new octets; `may_grow`: outside of fast recovery, in RDMA mode.
  void on_ack(const llp::CongestionControl& algorithm, const llp::AckedOctets& acked, bool may_grow) {
    algorithm.on_marks(state_, acked);
    if (may_grow && !acked.ece) algorithm.on_ack(state_, acked);
  }
  // The peer has everything before: an older reduction belongs to another window, however far the sequence numbers go.
  void follow(std::uint32_t snd_una) {
    if (wire::seq_gt(snd_una, ecn_recover_)) ecn_recover_ = snd_una - 1;
  }
  // Fast recovery begins, unless an echo already reduced the same window of data.
  void on_loss(const llp::CongestionControl& algorithm, std::uint32_t flight, std::uint32_t snd_una,
               std::uint32_t snd_nxt) {
    if (ecn_ && algorithm.ecn_is_a_loss() && wire::seq_lt(snd_una, ecn_recover_)) return;
    algorithm.on_loss(state_, flight);
    reduced(snd_nxt);
  }
  // The peer echoed a mark, outside of a recovery. Once per window of data: true if the window was reduced. A window of
  // one segment stays.
  bool on_echo(const llp::CongestionControl& algorithm, std::uint32_t snd_una, std::uint32_t snd_nxt) {
    if (!wire::seq_gt(snd_una, ecn_recover_)) return false;
    if (state_.window > state_.mss) algorithm.on_ecn(state_, snd_nxt - snd_una);
    reduced(snd_nxt);
    return true;
  }
  // `repeated`: the same segment timed out before.
  void on_timeout(const llp::CongestionControl& algorithm, std::uint32_t flight, std::uint32_t snd_nxt, bool repeated) {
    algorithm.on_timeout(state_, flight, repeated);
    reduced(snd_nxt);
  }
  // Nothing was sent for an RTO: knowledge of the path expires. True if the window fell to the initial one.
  bool on_idle(const llp::CongestionControl& algorithm, std::uint32_t initial_segments) {
    const std::uint32_t before = state_.window;
    algorithm.on_idle(state_, initial_segments);
    return state_.window < before;
  }

  // A new segment is sent: true if it must inform the peer, by CWR, that the window was reduced.
  bool take_cwr() {
    const bool owed = cwr_owed_;
    cwr_owed_ = false;
    return owed;
  }

  static constexpr const char* kMessage = "congestion_window";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("state", m.state_);
    v("ecn_recover", 32, m.ecn_recover_);
    v("ecn", 1, m.ecn_);
    v("cwr_owed", 1, m.cwr_owed_);
  }

 private:
  // Echoes of marks before `snd_nxt` belong to the same congestion event.
  void reduced(std::uint32_t snd_nxt) {
    ecn_recover_ = snd_nxt;
    cwr_owed_ = ecn_;
  }

  llp::CongestionState state_;
  std::uint32_t ecn_recover_ = 0;
  bool ecn_ = false;
  bool cwr_owed_ = false;
};

}  // namespace rnic::tcp
