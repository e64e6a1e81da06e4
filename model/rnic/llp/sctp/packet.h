// The headers in front of an SCTP packet: IPv4 and Ethernet (RFC 9260 defines nothing below IP).
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/ip_reassembly.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/sctp.h"
#include "model/wire/icmp.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

inline constexpr std::uint32_t kLowerHeaderBytes = wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes;
// Octets available to SCTP in an IPv4 packet of the interface's MTU.
inline std::uint32_t packet_limit(std::uint32_t mtu) {
  return static_cast<std::uint32_t>((mtu - wire::Ipv4Header::kBytes) / wire::kSctpAlign * wire::kSctpAlign);
}

// A peer may have a larger MTU than this station, up to the largest possible, and SCTP has nothing like TCP's MSS to
// announce ours: its packets are accepted. Blocks for such packets, after kFrameHeadroom and with a word after them.
inline constexpr std::uint32_t kLargestMtu = 9000;
inline constexpr std::uint32_t kLargeBlockBytes = kFrameHeadroom + kLargestMtu + 64;

// Writes them in front of the packet, with DF set unless IP has to fragment it.
void write_lower_headers(const LinkAddress& station, const SctpPacket& packet, std::uint16_t ip_id);

enum class PacketFault : std::uint8_t { kNone, kIpv4Header, kNotForUs, kShape, kFragment, kPathMtu };

struct ReceivedPacket {
  ByteSpan octets;  // from the common header on
  std::uint32_t peer_ip = 0;
  wire::MacAddress peer_mac;
  wire::FragmentationNeeded too_long;  // kPathMtu: the router's report
};
// An IPv4 packet of protocol 132 for `local`, with unicast addresses only. kShape: shorter than a common header, or not
// a multiple of 4 octets, as every packet of complete chunks is (RFC 9260 section 3.2). kFragment: it is not complete
// (yet). kPathMtu: a router's report (RFC 1191) about a packet of this station.
PacketFault read_packet(ByteSpan frame, wire::Ipv4Address local, IpReassembly& fragments, ReceivedPacket& out);

}  // namespace rnic::sctp
