#include "model/cable/router.h"

#include <algorithm>

namespace rnic {

std::optional<Frame> Router::fragmentation_needed(const Frame& frame, std::uint16_t next_hop_mtu) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->vlan_tci || ethernet->header.ethertype != wire::kEthertypeIpv4) return std::nullopt;
  const auto packet = wire::Ipv4View::parse(ethernet->payload);
  if (!packet || packet->header.fragment != wire::Ipv4Header::kDontFragment) return std::nullopt;
  if (packet->header.protocol == wire::kIpProtocolIcmp || ethernet->header.dst.is_group()) return std::nullopt;

  constexpr std::size_t kIp = wire::EthernetHeader::kBytes, kIcmp = kIp + wire::Ipv4Header::kBytes;
  Frame answer{pool_.take(), 0, 0, true};
  std::uint8_t* const octets = answer.buf->bytes();
  const std::size_t icmp_bytes =
      wire::FragmentationNeeded::emit(*packet, next_hop_mtu, {octets + kIcmp, pool_.block_bytes() - kIcmp});
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + icmp_bytes);
  ip.protocol = wire::kIpProtocolIcmp;
  ip.src = kAddress;
  ip.dst = packet->header.src;
  ip.emit({octets + kIp, wire::Ipv4Header::kBytes});
  wire::EthernetHeader{ethernet->header.src, ethernet->header.dst, wire::kEthertypeIpv4}.emit({octets, kIp});
  answer.bytes = static_cast<std::uint32_t>(kIcmp + icmp_bytes);
  return answer;
}

std::vector<Frame> Router::fragments(const Frame& frame, std::uint16_t next_hop_mtu) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->vlan_tci || ethernet->header.ethertype != wire::kEthertypeIpv4) return {};
  const auto packet = wire::Ipv4View::parse(ethernet->payload);
  if (!packet || packet->header.fragment != 0 || packet->header_bytes.size() != wire::Ipv4Header::kBytes) return {};
  constexpr std::size_t kIp = wire::EthernetHeader::kBytes, kPayload = kIp + wire::Ipv4Header::kBytes;
  constexpr std::size_t kUnit = 8;
  const std::size_t room = (next_hop_mtu - wire::Ipv4Header::kBytes) / kUnit * kUnit, all = packet->payload.size();
  if (room == 0 || kPayload + room > kLongestFragment) return {};
  std::vector<Frame> pieces;
  for (std::size_t at = 0; at < all; at += room) {
    const std::size_t bytes = std::min(room, all - at);
    wire::Ipv4Header ip = packet->header;
    ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + bytes);
    ip.fragment =
        static_cast<std::uint16_t>(at / kUnit | (at + bytes < all ? unsigned{wire::Ipv4Header::kMoreFragments} : 0u));
    Frame f{fragments_.take_like(frame.buf.get()), 0, static_cast<std::uint32_t>(kPayload + bytes), true, frame.resend};
    ethernet->header.emit({f.buf->bytes(), kIp});
    ip.emit({f.buf->bytes() + kIp, wire::Ipv4Header::kBytes});
    std::copy_n(packet->payload.data() + at, bytes, f.buf->bytes() + kPayload);
    pieces.push_back(std::move(f));
  }
  return pieces;
}

}  // namespace rnic
