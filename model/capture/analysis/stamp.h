// When a frame left its sender and reached its receiver, as far as the capture tells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/capture/place.h"

namespace rnic::capture {

// The way from one end to the other, if a capture stamps frames where they arrive, as a run's own does.
struct WirePath {
  std::uint64_t delay_ns = 0, line_gbps = 0;  // 0 Gb/s: not known, and nothing is subtracted

  bool is_known() const { return line_gbps != 0; }
  // From the first bit of a frame's preamble at the sender to the last one of its FCS at the receiver (IEEE 802.3
  // clauses 3.1 and 3.2). `frame_bytes` is without FCS.
  std::int64_t ns(std::size_t frame_bytes) const {
    if (!is_known()) return 0;
    constexpr std::uint64_t kPreamble = 8, kFcs = 4, kLeast = 60, kBits = 8;
    const std::uint64_t bits = (kPreamble + kFcs + std::max<std::uint64_t>(frame_bytes, kLeast)) * kBits;
    return static_cast<std::int64_t>(delay_ns + (bits + line_gbps / 2) / line_gbps);
  }
};

// Both times are that of the capture if the path is not known.
struct Stamp {
  std::int64_t arrived_ns = 0, left_ns = 0;
  std::uint64_t frame = 0;

  Stamp() = default;
  Stamp(const Place& at, std::size_t frame_bytes, const WirePath& path)
      : arrived_ns(static_cast<std::int64_t>(at.time_ns)),
        left_ns(arrived_ns - path.ns(frame_bytes)),
        frame(at.frame) {}
};

// How long who got `cause` took until `effect` left.
inline std::int64_t reaction_ns(const Stamp& cause, const Stamp& effect) { return effect.left_ns - cause.arrived_ns; }
// How long who stands where both arrive, or where the capture was made, waited for `second`.
inline std::int64_t wait_ns(const Stamp& first, const Stamp& second) { return second.arrived_ns - first.arrived_ns; }

}  // namespace rnic::capture
