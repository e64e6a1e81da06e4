#include "model/capture/segment.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "model/common/sctp_checksum.h"
#include "model/wire/checksum.h"
#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"
#include "model/wire/ipv6.h"

namespace rnic::capture {
namespace {

// The parts of a packet of either IP version that TCP and SCTP need.
struct Packet {
  Endpoint src, dst;
  ByteSpan payload;
  std::size_t missing = 0;  // octets after the payload that the capture did not keep
  std::uint8_t traffic_class = 0;
  std::optional<std::uint16_t> ipv4_id;
  wire::ChecksumAccumulator pseudo_header;  // TCP's
  // With segmentation offload hosts leave out the length, as each segment gets its own.
  wire::ChecksumAccumulator without_length;
};

constexpr bool is_read(std::uint8_t protocol) {
  return protocol == wire::kIpProtocolTcp || protocol == wire::kIpProtocolSctp;
}

bool is_cut(const CapturedFrame& frame) { return frame.bytes.size() < frame.wire_bytes; }

FrameResult undecoded(const CapturedFrame& frame, const char* what) {
  if (is_cut(frame)) return {FrameFate::kUndecoded, {}, {}, kept_of(frame)};
  return {FrameFate::kUndecoded, {}, {}, what};
}

// A packet without a length of its own has its frame's: true if the capture truncated that frame.
bool is_cut(const CapturedFrame& frame, std::uint16_t length) { return length == 0 && is_cut(frame); }

// Of `length` octets `there` are there, or more with padding.
std::size_t missing(std::size_t length, std::size_t there) { return length > there ? length - there : 0; }

// A receiver drops an IPv4 header with a wrong checksum before it looks at the fields.
bool wrong_ipv4_checksum(ByteSpan packet) {
  if (packet.size() < wire::Ipv4Header::kBytes) return false;
  const std::size_t size = std::max(std::size_t{4} * (packet[0] & 0x0f), wire::Ipv4Header::kBytes);
  return packet.size() >= size && wire::internet_checksum(packet.subspan(0, size)) != 0;
}

TcpChecksum classify(const Packet& packet, const wire::TcpHeader& header) {
  wire::ChecksumAccumulator sum = packet.pseudo_header;
  sum.add(packet.payload);
  if (sum.checksum() == 0) return TcpChecksum::kGood;
  const bool partial =
      header.checksum == packet.pseudo_header.partial() || header.checksum == packet.without_length.partial();
  return partial ? TcpChecksum::kPartial : TcpChecksum::kWrong;
}

FrameResult read_tcp(const CapturedFrame& frame, Packet packet, bool trust_checksums) {
  const auto tcp = wire::TcpView::parse(packet.payload);
  if (!tcp) return undecoded(frame, "malformed TCP header");
  FrameResult result{FrameFate::kSegment, {}, {}, {}};
  packet.src.port = tcp->header.src_port;
  packet.dst.port = tcp->header.dst_port;
  result.segment = {frame.at,
                    packet.src,
                    packet.dst,
                    tcp->header,
                    trust_checksums || packet.missing != 0 ? TcpChecksum::kGood : classify(packet, tcp->header),
                    tcp->payload,
                    packet.missing,
                    frame.wire_bytes,
                    packet.traffic_class,
                    packet.ipv4_id};
  return result;
}

FrameResult read_sctp(const CapturedFrame& frame, Packet packet, bool trust_checksums) {
  const auto header = wire::SctpHeader::parse(packet.payload);
  if (!header) return undecoded(frame, "malformed SCTP header");
  packet.src.port = header->src_port;
  packet.dst.port = header->dst_port;
  const bool good = trust_checksums || packet.missing != 0 ||
                    sctp_checksum(packet.payload) == load_crc32c(packet.payload.data() + kSctpChecksumOffset);
  return {FrameFate::kSctp,
          {},
          {frame.at, packet.src, packet.dst, header->verification_tag, good,
           packet.payload.subspan(wire::SctpHeader::kBytes), packet.missing},
          {}};
}

FrameResult read_payload(const CapturedFrame& frame, const Packet& packet, std::uint8_t protocol,
                         bool trust_checksums) {
  return protocol == wire::kIpProtocolTcp ? read_tcp(frame, packet, trust_checksums)
                                          : read_sctp(frame, packet, trust_checksums);
}

FrameResult read_ipv4(const CapturedFrame& frame, ByteSpan bytes, bool trust_checksums) {
  if (!trust_checksums && wrong_ipv4_checksum(bytes)) {
    return {FrameFate::kWrongIpChecksum, {}, {}, {}};
  }
  const auto ip = is_cut(frame) ? wire::Ipv4View::parse_cut(bytes) : wire::Ipv4View::parse_offloaded(bytes);
  if (!ip) return undecoded(frame, "malformed IPv4 header");
  if (!is_read(ip->header.protocol)) return {};
  if (is_cut(frame, ip->header.total_length)) return undecoded(frame, "");
  if (ip->header.is_fragment()) return undecoded(frame, "IPv4 fragment");
  Packet packet;
  store_be32(packet.src.address.data(), ip->header.src.v);
  store_be32(packet.dst.address.data(), ip->header.dst.v);
  packet.payload = ip->payload;
  packet.traffic_class = ip->header.tos;
  packet.ipv4_id = ip->header.identification;
  packet.missing = missing(ip->header.total_length, ip->header_bytes.size() + ip->payload.size());
  packet.pseudo_header = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, ip->payload.size());
  packet.without_length = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, 0);
  return read_payload(frame, packet, ip->header.protocol, trust_checksums);
}

FrameResult read_ipv6(const CapturedFrame& frame, ByteSpan bytes, bool trust_checksums) {
  const auto ip = is_cut(frame) ? wire::Ipv6View::parse_cut(bytes) : wire::Ipv6View::parse_offloaded(bytes);
  if (!ip) return undecoded(frame, "malformed IPv6 header");
  if (!is_read(ip->protocol)) return {};
  if (is_cut(frame, ip->header.payload_length)) return undecoded(frame, "");
  if (ip->fragment) return undecoded(frame, "IPv6 fragment");
  Packet packet;
  packet.src.ipv6 = packet.dst.ipv6 = true;
  packet.src.address = ip->header.src.octets;
  packet.dst.address = ip->header.dst.octets;
  packet.payload = ip->payload;
  packet.traffic_class = ip->header.traffic_class;
  packet.missing = missing(ip->header.payload_length, bytes.size() - wire::Ipv6Header::kBytes);
  packet.pseudo_header = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, ip->payload.size());
  packet.without_length = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, 0);
  return read_payload(frame, packet, ip->protocol, trust_checksums);
}

}  // namespace

std::string kept_of(const CapturedFrame& frame) {
  return fmt::format("the capture kept {} of the frame's {} octets", frame.bytes.size(), frame.wire_bytes);
}

std::string to_string(const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(endpoint.ipv6 ? AF_INET6 : AF_INET, endpoint.address.data(), text, sizeof text);
  return endpoint.ipv6 ? fmt::format("[{}]:{}", text, endpoint.port) : fmt::format("{}:{}", text, endpoint.port);
}

FrameResult read_frame(const CapturedFrame& frame, bool trust_checksums) {
  const auto ethernet = wire::EthernetView::parse(frame.bytes);
  if (!ethernet) return undecoded(frame, "malformed Ethernet header");
  switch (ethernet->header.ethertype) {
    case wire::kEthertypeIpv4:
      return read_ipv4(frame, ethernet->payload, trust_checksums);
    case wire::kEthertypeIpv6:
      return read_ipv6(frame, ethernet->payload, trust_checksums);
    case wire::kEthertypeLost:
      return {FrameFate::kLostByCable, {}, {}, {}};
    default:
      return {};
  }
}

}  // namespace rnic::capture
