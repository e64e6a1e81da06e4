// The retransmission timer's arithmetic (RFC 6298; RFC 9260 section 6.3 has the same), in clock cycles.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/cycle.h"

namespace rnic::llp {

struct RtoLimits {
  Cycle initial, min, max;
  // From a TcpConfig or an SctpConfig.
  template <class Config>
  RtoLimits(const Config& config, std::uint64_t period_ps)
      : initial(cycles(config.rto_initial_us, period_ps)),
        min(cycles(config.rto_min_us, period_ps)),
        max(cycles(config.rto_max_us, period_ps)) {}
  static Cycle cycles(std::uint64_t us, std::uint64_t period_ps) {
    return std::max<Cycle>(1, us * 1'000'000 / period_ps);
  }
};

// Smoothed in eighths and quarters of a cycle, so that the gains 1/8 and 1/4 are shifts (RFC 6298 section 2).
class RttEstimator {
 public:
  void sample(Cycle rtt) {
    const auto r = static_cast<std::uint32_t>(std::min<Cycle>(rtt, kLongest));
    if (srtt8_ == 0) {
      srtt8_ = std::max(1u, r * 8);
      rttvar4_ = r * 2;
      return;
    }
    const std::uint32_t srtt = srtt8_ / 8;
    rttvar4_ = rttvar4_ - rttvar4_ / 4 + (srtt > r ? srtt - r : r - srtt);
    srtt8_ = std::max(1u, srtt8_ - srtt8_ / 8 + r);
  }
  Cycle srtt() const { return srtt8_ / 8; }
  // Doubled for every timeout since the last answer (section 5.5).
  Cycle rto(const RtoLimits& limits, unsigned backoff) const {
    const Cycle base = srtt8_ == 0 ? limits.initial : Cycle{srtt8_ / 8} + std::max<Cycle>(1, rttvar4_);
    const Cycle bounded = std::clamp(base, limits.min, std::max(limits.min, limits.max));
    return backoff >= 32 ? limits.max : std::min(bounded << backoff, std::max(bounded, limits.max));
  }

  static constexpr const char* kMessage = "rtt_estimator";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("srtt8", 32, m.srtt8_);
    v("rttvar4", 32, m.rttvar4_);
  }

 private:
  static constexpr Cycle kLongest = 1u << 28;
  std::uint32_t srtt8_ = 0, rttvar4_ = 0;  // 0: nothing measured yet
};

}  // namespace rnic::llp
