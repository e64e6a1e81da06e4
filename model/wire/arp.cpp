#include "model/wire/arp.h"

#include <algorithm>

namespace rnic::wire {
namespace {

constexpr std::uint16_t kEthernet = 1;
// The beginning of every packet for IPv4 on Ethernet: kinds of addresses and their lengths.
constexpr std::size_t kOperationOffset = 6;
constexpr std::uint8_t kKinds[kOperationOffset] = {kEthernet >> 8,        kEthernet & 0xff,   kEthertypeIpv4 >> 8,
                                                   kEthertypeIpv4 & 0xff, MacAddress::kBytes, 4};

}  // namespace

std::size_t ArpPacket::emit(MutableByteSpan out) const {
  if (out.size() < kBytes) return 0;
  std::uint8_t* const p = out.data();
  std::copy(kKinds, kKinds + kOperationOffset, p);
  store_be16(p + 6, operation);
  std::copy(sender_mac.octets.begin(), sender_mac.octets.end(), p + 8);
  store_be32(p + 14, sender_ip.v);
  std::copy(target_mac.octets.begin(), target_mac.octets.end(), p + 18);
  store_be32(p + 24, target_ip.v);
  return kBytes;
}

std::optional<ArpPacket> ArpPacket::parse(ByteSpan packet) {
  if (packet.size() < kBytes || !std::equal(kKinds, kKinds + kOperationOffset, packet.data())) return std::nullopt;
  const std::uint8_t* const p = packet.data();
  ArpPacket arp;
  arp.operation = load_be16(p + 6);
  std::copy(p + 8, p + 14, arp.sender_mac.octets.begin());
  arp.sender_ip.v = load_be32(p + 14);
  std::copy(p + 18, p + 24, arp.target_mac.octets.begin());
  arp.target_ip.v = load_be32(p + 24);
  return arp;
}

}  // namespace rnic::wire
