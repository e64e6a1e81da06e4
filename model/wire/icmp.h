// The only ICMP message that TCP and SCTP use: "fragmentation needed and DF set" (RFC 792, RFC 1191 section 4).
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/ipv4.h"

namespace rnic::wire {

inline constexpr std::uint8_t kIpProtocolIcmp = 1;

struct FragmentationNeeded {
  static constexpr std::uint8_t kType = 3, kCode = 4;
  static constexpr std::size_t kBytes = 8;          // before the quoted packet
  static constexpr std::size_t kQuotedPayload = 8;  // quoted by every router: ports and a word
  std::uint16_t next_hop_mtu = 0;                   // 0: a router older than RFC 1191
  Ipv4Address src, dst;                             // of the packet that was too long
  std::uint16_t src_port = 0, dst_port = 0;
  std::uint32_t word = 0;     // TCP's sequence number or SCTP's verification tag
  std::uint8_t protocol = 0;  // TCP or SCTP

  // Quotes `packet` as RFC 792 requires: its header and 8 octets. Returns the octets written, 0 if `out` is too small.
  static std::size_t emit(const Ipv4View& packet, std::uint16_t next_hop_mtu, MutableByteSpan out);
  // `message` is the payload of an ICMP packet. nullopt: another message, a wrong checksum, or a quotation that is too
  // short or of another protocol.
  static std::optional<FragmentationNeeded> parse(ByteSpan message);
};

}  // namespace rnic::wire
