// Ethernet frames, with the packets and segments in them.
#include "model/capture/segment.h"
#include "model/wire/arp.h"
#include "model/wire/ethernet.h"
#include "model/wire/icmp.h"
#include "model/wire/ipv4.h"
#include "model/wire/ipv6.h"
#include "model/wire/tcp.h"
#include "testbench/fuzz/parsers.h"

namespace rnic::fuzz {
namespace {

bool inside(ByteSpan whole, ByteSpan piece) {
  return piece.empty() || (piece.begin() >= whole.begin() && piece.end() <= whole.end());
}

void read_tcp(ByteSpan segment) {
  const auto tcp = wire::TcpView::parse(segment);
  if (!tcp) return;
  require(inside(segment, tcp->payload), "TCP's payload lies outside of the segment");
  // The decoded options are the same when read again from our own encoding.
  std::uint8_t octets[64];
  const wire::TcpOptions& read = tcp->header.options;
  const std::size_t bytes = read.emit(octets);
  require(bytes == (read.bytes() > wire::TcpOptions::kMaxBytes ? 0 : read.bytes()), "options have another length");
  if (bytes == 0) return;
  const wire::TcpOptions again = wire::TcpOptions::parse({octets, bytes});
  require(again.mss == read.mss && again.window_scale == read.window_scale && again.sack_blocks == read.sack_blocks &&
              again.sack_permitted == read.sack_permitted &&
              again.timestamps.has_value() == read.timestamps.has_value(),
          "options are not what was written");
}

void read_ipv4(ByteSpan packet) {
  const auto ip = wire::Ipv4View::parse(packet);
  if (!ip) return;
  require(inside(packet, ip->payload), "IPv4's payload lies outside of the packet");
  read_tcp(ip->payload);
  wire::FragmentationNeeded::parse(ip->payload);
  std::uint8_t message[64];
  const std::size_t bytes = wire::FragmentationNeeded::emit(*ip, 576, message);
  if (bytes == 0 || ip->header.protocol != wire::kIpProtocolTcp) return;
  const auto needed = wire::FragmentationNeeded::parse({message, bytes});
  require(!needed || (needed->src == ip->header.src && needed->dst == ip->header.dst),
          "a router quotes other addresses");
}

void check_frame(const capture::CapturedFrame& frame, bool trusting) {
  const capture::FrameResult result = capture::read_frame(frame, trusting);
  if (result.fate == capture::FrameFate::kSctp) {
    require(inside(frame.bytes, result.packet.chunks), "a packet's chunks lie outside of its frame");
  }
  if (result.fate != capture::FrameFate::kSegment) return;
  require(inside(frame.bytes, result.segment.payload), "a segment's payload lies outside of its frame");
  capture::to_string(result.segment.src);
}

}  // namespace

void frame(ByteSpan octets) {
  const auto ethernet = wire::EthernetView::parse(octets);
  if (ethernet) {
    require(inside(octets, ethernet->payload), "Ethernet's payload lies outside of the frame");
    wire::ArpPacket::parse(ethernet->payload);
    read_ipv4(ethernet->payload);
    if (const auto ip = wire::Ipv6View::parse(ethernet->payload)) {
      require(inside(octets, ip->payload), "IPv6's payload lies outside of the packet");
      read_tcp(ip->payload);
    }
  }
  for (const std::size_t missing : {0, 1000}) {  // octets that a capture did not keep
    for (const bool trusting : {false, true}) check_frame({{}, octets, octets.size() + missing}, trusting);
  }
}

}  // namespace rnic::fuzz
