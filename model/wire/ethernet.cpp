#include "model/wire/ethernet.h"

namespace rnic::wire {
namespace {

constexpr std::size_t kEthertypeOffset = 2 * MacAddress::kBytes, kVlanTagBytes = 4;

MacAddress load_mac(const std::uint8_t* at) {
  MacAddress mac;
  for (std::uint8_t& octet : mac.octets) octet = *at++;
  return mac;
}

void store_mac(std::uint8_t* at, const MacAddress& mac) {
  for (const std::uint8_t octet : mac.octets) *at++ = octet;
}

}  // namespace

std::size_t EthernetHeader::emit(MutableByteSpan out) const {
  if (out.size() < kBytes) return 0;
  store_mac(out.data(), dst);
  store_mac(out.data() + MacAddress::kBytes, src);
  store_be16(out.data() + kEthertypeOffset, ethertype);
  return kBytes;
}

std::optional<EthernetView> EthernetView::parse(ByteSpan frame) {
  if (frame.size() < EthernetHeader::kBytes) return std::nullopt;
  EthernetView view;
  view.header.dst = load_mac(frame.data());
  view.header.src = load_mac(frame.data() + MacAddress::kBytes);
  std::size_t at = kEthertypeOffset;
  view.header.ethertype = load_be16(frame.data() + at);
  while (view.header.ethertype == kEthertypeVlan || view.header.ethertype == kEthertypeServiceVlan) {
    if (frame.size() < at + 2 + kVlanTagBytes) return std::nullopt;
    if (!view.vlan_tci) view.vlan_tci = load_be16(frame.data() + at + 2);
    at += kVlanTagBytes;
    view.header.ethertype = load_be16(frame.data() + at);
  }
  view.payload = frame.subspan(at + 2);
  return view;
}

}  // namespace rnic::wire
