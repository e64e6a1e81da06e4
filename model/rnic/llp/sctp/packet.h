// The headers before an SCTP packet: IPv4 and Ethernet (RFC 9260 has nothing below IP).
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/rnic/llp/sctp/ip_reassembly.h"
#include "model/rnic/llp/tcp_config.h"
#include "model/rnic/messages/sctp.h"
#include "model/wire/icmp.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

inline constexpr std::uint32_t kLowerHeaderBytes = wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes;
// Octets of an IPv4 packet of the interface's MTU that are SCTP's.
inline std::uint32_t packet_limit(const TcpConfig& tcp) {
  return static_cast<std::uint32_t>((tcp.mtu - wire::Ipv4Header::kBytes) / wire::kSctpAlign * wire::kSctpAlign);
}

// A peer may have a larger MTU than this station, up to the largest that there is, and SCTP has nothing like TCP's MSS
// to tell it so: what it sends is taken. Blocks for such packets, behind kFrameHeadroom and with a word behind them.
inline constexpr std::uint32_t kLargestMtu = 9000;
inline constexpr std::uint32_t kLargeBlockBytes = kFrameHeadroom + kLargestMtu + 64;

// Writes them in front of the packet, with DF set unless IP has to fragment it.
void write_lower_headers(const StationConfig& station, const SctpPacket& packet, std::uint16_t ip_id);

enum class PacketFault : std::uint8_t { kNone, kIpv4Header, kNotForUs, kShape, kFragment, kPathMtu };

struct ReceivedPacket {
  ByteSpan octets;  // from the common header on
  std::uint32_t peer_ip = 0;
  wire::MacAddress peer_mac;
  wire::FragmentationNeeded too_long;  // kPathMtu: what the router says
};
// An IPv4 packet of protocol 132 for `local`, from and to one station each. kShape: shorter than a common header, or
// not a multiple of 4 octets, as every packet of whole chunks is (RFC 9260 section 3.2). kFragment: it is not whole
// (yet). kPathMtu: a router's word (RFC 1191) about a packet of this station.
PacketFault read_packet(ByteSpan frame, wire::Ipv4Address local, IpReassembly& fragments, ReceivedPacket& out);

}  // namespace rnic::sctp
