#include "model/rnic/llp/tcp/segment.h"

#include "model/wire/checksum.h"
#include "model/wire/icmp.h"

namespace rnic::tcp {

void write_headers(const LinkAddress& station, const llp::FlowKey& key, const wire::MacAddress& peer_mac,
                   const SegmentFields& fields, std::uint8_t* payload, std::size_t payload_bytes) {
  wire::TcpHeader tcp;
  tcp.src_port = key.port;
  tcp.dst_port = key.peer_port;
  tcp.seq = fields.seq;
  tcp.ack = fields.ack;
  tcp.flags = fields.flags;
  tcp.window = fields.window;
  tcp.options = fields.options;
  const std::size_t tcp_bytes = tcp.bytes();

  std::uint8_t* const tcp_at = payload - tcp_bytes;
  std::uint8_t* const ip_at = tcp_at - wire::Ipv4Header::kBytes;
  std::uint8_t* const ethernet_at = ip_at - wire::EthernetHeader::kBytes;

  tcp.emit(MutableByteSpan{tcp_at, tcp_bytes});
  const wire::Ipv4Address peer{key.peer_ip};
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(station.ip, peer, tcp_bytes + payload_bytes);
  sum.add({tcp_at, tcp_bytes + payload_bytes});
  store_be16(tcp_at + wire::TcpHeader::kChecksumOffset, sum.checksum());

  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(wire::Ipv4Header::kBytes + tcp_bytes + payload_bytes);
  ip.tos = fields.ecn;
  ip.identification = fields.ip_id;
  ip.protocol = wire::kIpProtocolTcp;
  ip.src = station.ip;
  ip.dst = peer;
  ip.emit(MutableByteSpan{ip_at, wire::Ipv4Header::kBytes});

  wire::EthernetHeader ethernet;
  ethernet.dst = peer_mac;
  ethernet.src = station.mac;
  ethernet.emit(MutableByteSpan{ethernet_at, wire::EthernetHeader::kBytes});
}

SegmentFault read_segment(ByteSpan frame, wire::Ipv4Address local, ReceivedSegment& out) {
  const auto ethernet = wire::EthernetView::parse(frame);
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4) return SegmentFault::kNotIpv4;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || !ip->checksum_ok() || ip->header.is_fragment()) return SegmentFault::kIpv4Header;
  if (ip->header.dst != local || ip->header.protocol != wire::kIpProtocolTcp) return SegmentFault::kNotForUs;
  const auto segment = wire::TcpView::parse(ip->payload);
  if (!segment) return SegmentFault::kTcpHeader;
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, ip->payload.size());
  sum.add(ip->payload);
  if (sum.checksum() != 0) return SegmentFault::kTcpChecksum;
  out.key = {ip->header.src.v, segment->header.src_port, segment->header.dst_port};
  out.peer_mac = ethernet->header.src;
  out.header = segment->header;
  out.ecn = ip->header.tos & wire::kEcnMask;
  out.payload = segment->payload;
  return SegmentFault::kNone;
}

RxReport report_of(FlowId flow, const ReceivedSegment& s) {
  const wire::TcpHeader& h = s.header;
  RxReport r;
  r.flow = flow;
  r.key = s.key;
  r.peer_mac = s.peer_mac;
  r.flags = h.flags;
  r.options = h.options;
  r.window = h.window;
  r.seq = h.seq;
  r.ack = h.ack;
  r.bytes = static_cast<std::uint32_t>(s.payload.size()) + h.has(wire::TcpHeader::kSyn) + h.has(wire::TcpHeader::kFin);
  return r;
}

std::optional<PathMtuReport> read_path_mtu(ByteSpan frame, wire::Ipv4Address local) {
  const auto ethernet = wire::EthernetView::parse(frame);
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (ip->header.dst != local || ip->header.protocol != wire::kIpProtocolIcmp) return std::nullopt;
  const auto told = wire::FragmentationNeeded::parse(ip->payload);
  if (!told || told->protocol != wire::kIpProtocolTcp || told->src != local) return std::nullopt;
  return PathMtuReport{{told->dst.v, told->dst_port, told->src_port}, told->word, told->next_hop_mtu};
}

}  // namespace rnic::tcp
