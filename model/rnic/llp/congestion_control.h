// How much a flow may have in flight: slow start, congestion avoidance and the answer to loss (RFC 5681). An algorithm
// defines how the window grows and how far it falls; it holds no flow's state, so one object serves all of a chip. What
// is not pure virtual is TCP's; SCTP's own rules replace all of it (sctp/rfc9260.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/cycle.h"

namespace rnic::llp {

struct CubicState {
  std::uint32_t w_max = 0;  // window at the last loss; 0: there was none
  std::uint32_t prior = 0;  // the same, not lowered by fast convergence
  std::uint32_t w_est = 0;  // the window that NewReno would have
  std::uint32_t k_ms = 0;   // from the epoch to the return to w_max
  std::uint64_t epoch_ns = 0;
  bool in_epoch = false;

  static constexpr const char* kMessage = "cubic_state";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("w_max", 32, m.w_max);
    v("prior", 32, m.prior);
    v("w_est", 32, m.w_est);
    v("k_ms", 32, m.k_ms);
    v("epoch_ns", 64, m.epoch_ns);
    v("in_epoch", 1, m.in_epoch);
  }
};
struct DctcpState {
  std::uint32_t alpha = 1024;  // fraction of marked octets, in 1024ths
  std::uint32_t acked = 0, marked = 0;
  std::uint32_t window_end = 0;  // sequence number
};

// For one flow; octets.
struct CongestionState {
  std::uint32_t mss = 0;
  std::uint32_t window = 0;
  std::uint32_t ssthresh = 0xffffffff;
  std::uint32_t counted = 0;  // acknowledged since congestion avoidance last added to the window
  union Own {
    CubicState cubic;
    DctcpState dctcp;
    Own() : cubic() {}
  } own;

  static constexpr const char* kMessage = "congestion_state";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("mss", 16, m.mss);
    v("window", 32, m.window);
    v("ssthresh", 32, m.ssthresh);
    v("counted", 32, m.counted);
    v("own", m.own.cubic);  // the largest
  }
};

// An ACK of new octets.
struct AckedOctets {
  std::uint32_t bytes = 0;
  std::uint32_t flight = 0;                // before this ACK
  std::uint32_t snd_una = 0, snd_nxt = 0;  // after it
  std::uint64_t now_ns = 0, srtt_ns = 0;
  bool ece = false;
  bool advances = true;  // SND.UNA; false: SCTP counts gap-acked chunks, too
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  // `segments` of initial window; for more than three, RFC 6928's bound of 14600 octets is raised in proportion.
  virtual void open(CongestionState& s, std::uint32_t mss, std::uint32_t segments) const;
  static std::uint32_t cwnd(const CongestionState& s) { return s.window; }
  // Outside of fast recovery. A window that is less than half used does not grow (RFC 7661 section 4.3).
  virtual void on_ack(CongestionState& s, const AckedOctets& acked) const;
  // Every ACK of new octets, also in fast recovery.
  virtual void on_marks(CongestionState&, const AckedOctets&) const {}
  // The first ECN-Echo of a window of data (RFC 3168 section 6.1.2).
  virtual void on_ecn(CongestionState& s, std::uint32_t flight) const { on_loss(s, flight); }
  // That also counts as the reduction for losses in the same window.
  virtual bool ecn_is_a_loss() const { return true; }
  // Fast recovery begins; `flight` as in RFC 5681 equation (4).
  virtual void on_loss(CongestionState& s, std::uint32_t flight) const;
  // `repeated`: the same segment timed out before, so the threshold stays (RFC 5681 section 3.1).
  virtual void on_timeout(CongestionState& s, std::uint32_t flight, bool repeated) const;
  // Nothing was sent for an RTO (RFC 5681 section 4.1).
  virtual void on_idle(CongestionState& s, std::uint32_t segments) const;

 protected:
  // Congestion avoidance, for a window that is in use.
  virtual void avoid(CongestionState& s, const AckedOctets& acked) const = 0;
  // The slow start threshold after a loss, before its bound of two segments.
  virtual std::uint32_t reduced(CongestionState& s, std::uint32_t flight) const = 0;

 private:
  static std::uint32_t initial_window(std::uint32_t mss, std::uint32_t segments);
};

}  // namespace rnic::llp
