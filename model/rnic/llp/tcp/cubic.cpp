#include "model/rnic/llp/tcp/cubic.h"

namespace rnic::tcp {

namespace {

// C = 0.4 segments/s^3 and beta = 0.7 (RFC 9438 section 4.1).
constexpr std::int64_t kCNumerator = 2, kCDenominator = 5;
constexpr std::uint32_t kBetaTenths = 7;
constexpr std::int64_t kCubicMsInCubicS = 1'000'000'000;
// 3 (1 - beta) / (1 + beta), in 1024ths.
constexpr std::uint32_t kFriendly = 542;
constexpr std::int64_t kLongestMs = 100'000;

constexpr std::uint32_t by_beta(std::uint32_t v) {
  return static_cast<std::uint32_t>(std::uint64_t{v} * kBetaTenths / 10);
}

}  // namespace

// The largest r with r^3 <= v.
std::uint32_t Cubic::cube_root(std::uint64_t v) {
  std::uint64_t r = 0;
  for (int bit = 20; bit >= 0; --bit) {
    const std::uint64_t t = r | std::uint64_t{1} << bit;
    if (t * t * t <= v) r = t;
  }
  return static_cast<std::uint32_t>(r);
}

std::uint32_t Cubic::window_at(const llp::CubicState& c, std::uint32_t mss, std::uint64_t ms) {
  const std::int64_t t = std::clamp(static_cast<std::int64_t>(ms) - c.k_ms, -kLongestMs, kLongestMs);
  const std::int64_t grown = t * t * t / kCDenominator * kCNumerator / (kCubicMsInCubicS / 1000) * mss / 1000;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(grown + c.w_max, 0, std::int64_t{1} << 30));
}

void Cubic::begin_epoch(llp::CongestionState& s, std::uint64_t now_ns) {
  llp::CubicState& c = s.own.cubic;
  c.in_epoch = true;
  c.epoch_ns = now_ns;
  c.w_est = s.window;
  if (c.w_max <= s.window) {
    c.w_max = s.window;  // slow start without a loss ends here: K is 0 (section 4.8)
    c.k_ms = 0;
    return;
  }
  const std::uint64_t segments_1024 = std::uint64_t{c.w_max - s.window} * 1024 / s.mss;
  c.k_ms = cube_root(segments_1024 * kCubicMsInCubicS / 1024 * kCDenominator / kCNumerator);
}

void Cubic::avoid(llp::CongestionState& s, const llp::AckedOctets& acked) const {
  llp::CubicState& c = s.own.cubic;
  if (!c.in_epoch) begin_epoch(s, acked.now_ns);
  // Section 4.3: never less than NewReno.
  const std::uint32_t friendly = c.w_est < c.prior ? kFriendly : 1024;
  const std::uint64_t share = std::uint64_t{s.mss} * acked.bytes * friendly / 1024;
  c.w_est += static_cast<std::uint32_t>(share / s.window);
  const std::uint64_t t_ns = acked.now_ns - c.epoch_ns;
  if (window_at(c, s.mss, t_ns / 1'000'000) < c.w_est) {
    s.window = std::max(s.window, c.w_est);
    return;
  }
  // Sections 4.4 and 4.5: towards the function's value one round trip later, in proportion to the ACK's part of the
  // window.
  const std::uint32_t target =
      std::clamp(window_at(c, s.mss, (t_ns + acked.srtt_ns) / 1'000'000), s.window, s.window + s.window / 2);
  s.window += static_cast<std::uint32_t>(std::uint64_t{target - s.window} * acked.bytes / s.window);
}

// Sections 4.6 and 4.7: fast convergence yields to flows that came later.
std::uint32_t Cubic::reduced(llp::CongestionState& s, std::uint32_t flight) const {
  llp::CubicState& c = s.own.cubic;
  c.prior = s.window;
  c.w_max =
      s.window < c.w_max ? static_cast<std::uint32_t>(std::uint64_t{s.window} * (10 + kBetaTenths) / 20) : s.window;
  c.in_epoch = false;
  return by_beta(flight);
}

}  // namespace rnic::tcp
