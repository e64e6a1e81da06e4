// IPv4 (RFC 791).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/fields.h"

namespace rnic::wire {

inline constexpr std::uint8_t kIpProtocolTcp = 6;  // also in IPv6

// The low two bits of the TOS octet (RFC 3168 section 5).
inline constexpr std::uint8_t kEcnMask = 3, kNotEct = 0, kEct0 = 2, kCongestionExperienced = 3;

struct Ipv4Address {
  std::uint32_t v = 0;  // 10.0.0.1 is 0x0a000001
  friend constexpr bool operator==(Ipv4Address a, Ipv4Address b) { return a.v == b.v; }
  friend constexpr bool operator!=(Ipv4Address a, Ipv4Address b) { return a.v != b.v; }
};

struct Ipv4Header {
  static constexpr std::size_t kBytes = 20;  // without options, which are never sent
  static constexpr std::uint16_t kDontFragment = 0x4000, kMoreFragments = 0x2000, kFragmentOffsetMask = 0x1fff;

  std::uint8_t version_ihl = 0x45;
  std::uint8_t tos = 0;  // DSCP and ECN
  std::uint16_t total_length = kBytes;
  std::uint16_t identification = 0;
  std::uint16_t fragment = kDontFragment;  // flags and offset
  std::uint8_t ttl = 64;
  std::uint8_t protocol = 0;
  std::uint16_t checksum = 0;  // as received; emit() computes it
  Ipv4Address src, dst;

  template <class Self, class F>
  static constexpr void fields(Self& h, F& f) {
    f(h.version_ihl, h.tos, h.total_length, h.identification, h.fragment, h.ttl, h.protocol, h.checksum, h.src.v,
      h.dst.v);
  }
  constexpr bool is_fragment() const { return fragment & (kMoreFragments | kFragmentOffsetMask); }

  // Fills in the header checksum. Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
};

// A packet. nullopt: another version, a header length below 20 octets, or a total length beyond the end. Options are
// skipped. Padding after the total length is not in the payload.
struct Ipv4View {
  Ipv4Header header;
  ByteSpan header_bytes;  // with options
  ByteSpan payload;

  static std::optional<Ipv4View> parse(ByteSpan packet);
  // For packets captured before segmentation offload: a total length of 0 means all octets.
  static std::optional<Ipv4View> parse_offloaded(ByteSpan packet);
  // For packets that a capture cut: the payload ends where the octets do. Also takes a total length of 0.
  static std::optional<Ipv4View> parse_cut(ByteSpan packet);
  bool checksum_ok() const;
};

}  // namespace rnic::wire
