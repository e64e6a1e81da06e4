// The Internet checksum (RFC 1071), computed piece by piece, and the TCP pseudo headers of IPv4 and IPv6.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"
#include "model/wire/ipv4.h"
#include "model/wire/ipv6.h"

namespace rnic::wire {

// Pieces may have any length, also odd. A TCP sender can keep a payload's sum and add the headers later.
class ChecksumAccumulator {
 public:
  void add(ByteSpan piece);
  void add_u16(std::uint16_t value) { add_word(value); }
  void add_u32(std::uint32_t value) {
    add_word(static_cast<std::uint16_t>(value >> 16));
    add_word(static_cast<std::uint16_t>(value));
  }
  // The one's complement sum so far: the field's value with checksum offload if only the pseudo header was added.
  std::uint16_t partial() const;
  // The value for the checksum field. Over data that includes a right checksum it is 0.
  std::uint16_t checksum() const { return static_cast<std::uint16_t>(~partial()); }

 private:
  void add_word(std::uint16_t value);
  std::uint64_t sum_ = 0;  // of 16-bit big-endian words, carries not folded
  bool odd_ = false;       // an odd number of octets so far
};

// Starts a TCP checksum: addresses, protocol and the length of TCP header and payload (RFC 9293, RFC 8200 section 8.1).
ChecksumAccumulator tcp_pseudo_header(Ipv4Address src, Ipv4Address dst, std::size_t tcp_bytes);
ChecksumAccumulator tcp_pseudo_header(const Ipv6Address& src, const Ipv6Address& dst, std::size_t tcp_bytes);

inline std::uint16_t internet_checksum(ByteSpan bytes) {
  ChecksumAccumulator sum;
  sum.add(bytes);
  return sum.checksum();
}

}  // namespace rnic::wire
