// SCTP's own congestion control (RFC 9260 section 7.2), with TCP's interface. `mss` is the PMDCS: the largest DATA
// chunk with its header that fits a packet. Octets are those of chunks with header and pad.
#pragma once

#include "model/rnic/llp/congestion_control.h"

namespace rnic::sctp {

class Rfc9260 : public llp::CongestionControl {
 public:
  // Section 7.2.1, which has 3 for `packets`: one more full packet of the path, or two, or that many packets of
  // Ethernet size over IPv4.
  void open(llp::CongestionState& s, std::uint32_t pmdcs, std::uint32_t packets) const override {
    constexpr std::uint32_t kEthernetPmdcs = 1468;
    s = {};
    s.mss = pmdcs;
    s.window = std::min((packets + 1) * pmdcs, std::max(2 * pmdcs, packets * kEthernetPmdcs));
  }
  // A SACK of new octets, outside of fast recovery. `counted` is partial_bytes_acked.
  void on_ack(llp::CongestionState& s, const llp::AckedOctets& acked) const override {
    const bool full = acked.flight >= s.window;
    if (s.window > s.ssthresh) avoid(s, acked);
    else if (full && acked.advances) s.window += std::min(acked.bytes, s.mss);
    if (acked.snd_una == acked.snd_nxt) s.counted = 0;
  }
  void on_loss(llp::CongestionState& s, std::uint32_t flight) const override {
    s.ssthresh = std::max(reduced(s, flight), 4 * s.mss);
    s.window = s.ssthresh;
    s.counted = 0;
  }
  void on_timeout(llp::CongestionState& s, std::uint32_t flight, bool) const override {
    s.ssthresh = std::max(reduced(s, flight), 4 * s.mss);
    s.window = s.mss;
    s.counted = 0;
  }
  // For each RTO. Silence proves nothing good about a path: a window below four packets stays.
  void on_idle(llp::CongestionState& s, std::uint32_t) const override {
    s.window = std::min(s.window, std::max(s.window / 2, 4 * s.mss));
  }

 protected:
  // Section 7.2.2.
  void avoid(llp::CongestionState& s, const llp::AckedOctets& acked) const override {
    s.counted += acked.bytes;
    if (acked.flight < s.window) {
      s.counted = std::min(s.counted, s.window);
    } else if (s.counted >= s.window) {
      s.counted -= s.window;
      s.window += s.mss;
    }
  }
  std::uint32_t reduced(llp::CongestionState& s, std::uint32_t) const override { return s.window / 2; }
};

}  // namespace rnic::sctp
