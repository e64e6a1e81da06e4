#include "model/rnic/llp/sctp/packet.h"

namespace rnic::sctp {

void write_lower_headers(const LinkAddress& station, const SctpPacket& packet, std::uint16_t ip_id) {
  std::uint8_t* const ip_at = packet.data() - wire::Ipv4Header::kBytes;
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + packet.bytes);
  ip.identification = ip_id;
  ip.protocol = wire::kIpProtocolSctp;
  if (packet.may_fragment) ip.fragment = 0;
  ip.src = station.ip;
  ip.dst = wire::Ipv4Address{packet.peer_ip};
  ip.emit(MutableByteSpan{ip_at, wire::Ipv4Header::kBytes});

  wire::EthernetHeader ethernet;
  ethernet.dst = packet.peer_mac;
  ethernet.src = station.mac;
  ethernet.emit(MutableByteSpan{ip_at - wire::EthernetHeader::kBytes, wire::EthernetHeader::kBytes});
}

PacketFault read_packet(ByteSpan frame, wire::Ipv4Address local, IpReassembly& fragments, ReceivedPacket& out) {
  const auto ethernet = wire::EthernetView::parse(frame);
  if (!ethernet) return PacketFault::kIpv4Header;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || !ip->checksum_ok()) return PacketFault::kIpv4Header;
  const std::uint32_t source = ip->header.src.v;
  const bool one_sender = source != 0 && source < 0xe000'0000;  // not a group, and not the broadcast address
  if (ethernet->header.dst.is_group() || ip->header.dst != local || !one_sender) return PacketFault::kNotForUs;
  if (ip->header.protocol == wire::kIpProtocolIcmp) {
    const auto told = wire::FragmentationNeeded::parse(ip->payload);
    if (!told || told->protocol != wire::kIpProtocolSctp || told->src != local) return PacketFault::kNotForUs;
    out.too_long = *told;
    return PacketFault::kPathMtu;
  }
  ByteSpan packet = ip->payload;
  if (ip->header.is_fragment()) {
    const auto whole = fragments.put(*ip);
    if (!whole) return PacketFault::kFragment;
    packet = *whole;
  }
  if (packet.size() < wire::SctpHeader::kBytes || packet.size() % wire::kSctpAlign != 0) return PacketFault::kShape;
  out = {packet, source, ethernet->header.src, {}};
  return PacketFault::kNone;
}

}  // namespace rnic::sctp
