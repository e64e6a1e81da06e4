#include "model/rnic/llp/congestion_control.h"

#include <algorithm>

namespace rnic::llp {

// RFC 6928 section 2 with `segments` for its 10: an MSS so large that ten are more than 14600 octets is counted as
// 1460, but two segments may always be sent.
std::uint32_t CongestionControl::initial_window(std::uint32_t mss, std::uint32_t segments) {
  constexpr std::uint32_t kEthernetMss = 1460;
  return std::min(segments * mss, std::max(2 * mss, segments * kEthernetMss));
}

void CongestionControl::open(CongestionState& s, std::uint32_t mss, std::uint32_t segments) const {
  s = {};
  s.mss = mss;
  s.window = initial_window(mss, segments);
}

void CongestionControl::on_ack(CongestionState& s, const AckedOctets& acked) const {
  if (acked.flight < s.window / 2) return;
  if (s.window < s.ssthresh) s.window += std::min(acked.bytes, s.mss);
  else avoid(s, acked);
}

void CongestionControl::on_loss(CongestionState& s, std::uint32_t flight) const {
  s.ssthresh = std::max(reduced(s, flight), 2 * s.mss);
  s.window = s.ssthresh;
  s.counted = 0;
}

void CongestionControl::on_timeout(CongestionState& s, std::uint32_t flight, bool repeated) const {
  if (!repeated) s.ssthresh = std::max(reduced(s, flight), 2 * s.mss);
  s.window = s.mss;
  s.counted = 0;
}

void CongestionControl::on_idle(CongestionState& s, std::uint32_t segments) const {
  s.window = std::min(s.window, initial_window(s.mss, segments));
}

}  // namespace rnic::llp
