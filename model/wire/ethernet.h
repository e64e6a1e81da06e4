// Ethernet II, with 802.1Q and 802.1ad tags tolerated on receipt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

struct MacAddress {
  static constexpr std::size_t kBytes = 6;
  std::array<std::uint8_t, kBytes> octets{};
  constexpr bool is_group() const { return octets[0] & 1; }  // multicast or broadcast
  friend constexpr bool operator==(const MacAddress& a, const MacAddress& b) {
    for (std::size_t i = 0; i < kBytes; ++i) {
      if (a.octets[i] != b.octets[i]) return false;
    }
    return true;
  }
  friend constexpr bool operator!=(const MacAddress& a, const MacAddress& b) { return !(a == b); }
};

inline constexpr std::uint16_t kEthertypeIpv4 = 0x0800, kEthertypeIpv6 = 0x86dd, kEthertypeArp = 0x0806;
// Local Experimental EtherType 1 (IEEE 802). Captures have it before a frame that the cable lost.
inline constexpr std::uint16_t kEthertypeLost = 0x88b5;
inline constexpr std::uint16_t kEthertypeVlan = 0x8100, kEthertypeServiceVlan = 0x88a8;

struct EthernetHeader {
  static constexpr std::size_t kBytes = 14;
  MacAddress dst, src;
  std::uint16_t ethertype = kEthertypeIpv4;  // of the payload, after any VLAN tags

  // Without VLAN tags. Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
};

// A frame without its FCS; nullopt if it is too short for the header and its tags. The payload may end in padding.
struct EthernetView {
  EthernetHeader header;
  std::optional<std::uint16_t> vlan_tci;  // of the outermost tag
  ByteSpan payload;

  static std::optional<EthernetView> parse(ByteSpan frame);
};

}  // namespace rnic::wire
