// IPv6 (RFC 8200).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

struct Ipv6Address {
  static constexpr std::size_t kBytes = 16;
  std::array<std::uint8_t, kBytes> octets{};
  friend constexpr bool operator==(const Ipv6Address& a, const Ipv6Address& b) {
    for (std::size_t i = 0; i < kBytes; ++i) {
      if (a.octets[i] != b.octets[i]) return false;
    }
    return true;
  }
  friend constexpr bool operator!=(const Ipv6Address& a, const Ipv6Address& b) { return !(a == b); }
};

struct Ipv6Header {
  static constexpr std::size_t kBytes = 40;
  std::uint8_t traffic_class = 0;  // DSCP and ECN
  std::uint32_t flow_label = 0;    // 20 bits
  std::uint16_t payload_length = 0;
  std::uint8_t next_header = 0;
  std::uint8_t hop_limit = 64;
  Ipv6Address src, dst;

  // Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
};

// A packet. nullopt: another version, or a payload length or extension headers beyond the end. Hop-by-hop, routing and
// destination options are skipped; padding after the payload length is not in the payload.
struct Ipv6View {
  Ipv6Header header;
  std::uint8_t protocol = 0;  // of the payload, after the extension headers
  bool fragment = false;      // the payload is a fragment; protocol is the whole packet's
  ByteSpan payload;

  static std::optional<Ipv6View> parse(ByteSpan packet);
  // For packets captured before segmentation offload, and jumbograms (RFC 2675): a payload length of 0 means all
  // octets.
  static std::optional<Ipv6View> parse_offloaded(ByteSpan packet);
  // For packets that a capture cut: the payload ends where the octets do. Also takes a payload length of 0.
  static std::optional<Ipv6View> parse_cut(ByteSpan packet);
};

}  // namespace rnic::wire
