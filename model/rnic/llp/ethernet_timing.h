// How long a frame occupies an Ethernet line (IEEE 802.3 clause 4).
#pragma once

#include <algorithm>
#include <cstdint>

namespace rnic::ethernet {

inline constexpr std::uint32_t kPreambleOctets = 8;  // with the start frame delimiter
inline constexpr std::uint32_t kFcsOctets = 4;
inline constexpr std::uint32_t kMinFrameOctets = 64;  // with FCS
inline constexpr std::uint32_t kInterFrameGapOctets = 12;

// Octets on the line from the preamble's first to the FCS's last, of a frame given without padding and FCS.
constexpr std::uint32_t line_octets(std::uint32_t frame_bytes) {
  return kPreambleOctets + std::max(frame_bytes + kFcsOctets, kMinFrameOctets);
}
// 1 Gb/s takes 8000 ps per octet.
constexpr std::uint64_t octets_to_ps(std::uint64_t octets, unsigned line_gbps) { return octets * 8000 / line_gbps; }

}  // namespace rnic::ethernet
