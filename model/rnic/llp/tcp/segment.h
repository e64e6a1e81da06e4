// A TCP segment in its IPv4 packet in its Ethernet frame: headers written in front of a payload, and the checks of a
// received segment. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/messages/tcp_offload.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// The fields of a sent segment, other than its addresses.
struct SegmentFields {
  std::uint32_t seq = 0, ack = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0;  // as on the wire, scaled
  std::uint16_t ip_id = 0;
  std::uint8_t ecn = wire::kNotEct;
  wire::TcpOptions options;
};

// Ethernet, IPv4 and TCP headers, without options.
inline constexpr std::uint32_t kHeaderBytes =
    wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes;

inline std::uint32_t header_bytes(const SegmentFields& f) {
  return kHeaderBytes + static_cast<std::uint32_t>(f.options.bytes());
}

// Writes header_bytes(fields) octets that end where the payload begins, with DF set, TTL 64 and all checksums.
void write_headers(const LinkAddress& station, const llp::FlowKey& key, const wire::MacAddress& peer_mac,
                   const SegmentFields& fields, std::uint8_t* payload, std::size_t payload_bytes);

enum class SegmentFault : std::uint8_t { kNone, kNotIpv4, kIpv4Header, kNotForUs, kTcpHeader, kTcpChecksum };
constexpr const char* to_string(SegmentFault fault) {
  constexpr const char* kTexts[] = {"",           "no IPv4 packet",   "IPv4 header wrong",
                                    "not for us", "TCP header wrong", "TCP checksum wrong"};
  return kTexts[static_cast<unsigned>(fault)];
}

struct ReceivedSegment {
  llp::FlowKey key;
  wire::MacAddress peer_mac;
  wire::TcpHeader header;
  std::uint8_t ecn = wire::kNotEct;
  ByteSpan payload;
};

// A segment for `local`, checked as far as possible without its connection.
SegmentFault read_segment(ByteSpan frame, wire::Ipv4Address local, ReceivedSegment& out);

// For tcp_connection, which handles segments of no flow, or of a flow that awaits a SYN.
RxReport report_of(FlowId flow, const ReceivedSegment& s);

// A router's "fragmentation needed" about a segment that `local` sent (RFC 1191 section 3).
struct PathMtuReport {
  llp::FlowKey key;
  std::uint32_t seq = 0;
  std::uint16_t mtu = 0;  // 0: not reported
};
// For an IPv4 packet that is no TCP segment for `local`.
std::optional<PathMtuReport> read_path_mtu(ByteSpan frame, wire::Ipv4Address local);

}  // namespace rnic::tcp
