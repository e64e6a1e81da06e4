// RFC 5681 and 6582: one more segment per window, half of what was in flight after a loss.
#pragma once

#include "model/rnic/llp/congestion_control.h"

namespace rnic::tcp {

class NewReno : public llp::CongestionControl {
 protected:
  // Octets are counted (RFC 5681 section 3.1, RFC 3465), so that an ACK of two segments counts for both.
  void avoid(llp::CongestionState& s, const llp::AckedOctets& acked) const override {
    s.counted += acked.bytes;
    if (s.counted < s.window) return;
    s.counted -= s.window;
    s.window += s.mss;
  }
  std::uint32_t reduced(llp::CongestionState&, std::uint32_t flight) const override { return flight / 2; }
};

}  // namespace rnic::tcp
