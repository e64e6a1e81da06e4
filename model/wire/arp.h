// ARP for IPv4 on Ethernet (RFC 826).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"

namespace rnic::wire {

struct ArpPacket {
  static constexpr std::size_t kBytes = 28;
  enum Operation : std::uint16_t { kRequest = 1, kReply = 2 };

  std::uint16_t operation = kRequest;
  MacAddress sender_mac;
  Ipv4Address sender_ip;
  MacAddress target_mac;
  Ipv4Address target_ip;

  // Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
  // nullopt: too short, or with other kinds of addresses.
  static std::optional<ArpPacket> parse(ByteSpan packet);
};

}  // namespace rnic::wire
