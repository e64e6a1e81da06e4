#include "model/wire/icmp.h"

#include <algorithm>

#include "model/wire/checksum.h"
#include "model/wire/sctp.h"

namespace rnic::wire {
namespace {

constexpr std::size_t kChecksumOffset = 2, kMtuOffset = 6;

}  // namespace

std::size_t FragmentationNeeded::emit(const Ipv4View& packet, std::uint16_t next_hop_mtu, MutableByteSpan out) {
  const std::size_t quoted = std::min(kQuotedPayload, packet.payload.size());
  const std::size_t bytes = kBytes + packet.header_bytes.size() + quoted;
  if (out.size() < bytes) return 0;
  std::uint8_t* at = std::fill_n(out.data(), kBytes, std::uint8_t{0});
  out[0] = kType;
  out[1] = kCode;
  store_be16(out.data() + kMtuOffset, next_hop_mtu);
  at = std::copy_n(packet.header_bytes.data(), packet.header_bytes.size(), at);
  std::copy_n(packet.payload.data(), quoted, at);
  store_be16(out.data() + kChecksumOffset, internet_checksum({out.data(), bytes}));
  return bytes;
}

std::optional<FragmentationNeeded> FragmentationNeeded::parse(ByteSpan message) {
  if (message.size() < kBytes + Ipv4Header::kBytes + kQuotedPayload) return std::nullopt;
  if (message[0] != kType || message[1] != kCode) return std::nullopt;
  ChecksumAccumulator sum;
  sum.add(message);
  if (sum.checksum() != 0) return std::nullopt;
  // The quotation is truncated, so its total length exceeds its octets.
  const ByteSpan quoted = message.subspan(kBytes);
  const std::size_t header = std::size_t{quoted[0] & 0xfu} * 4;
  const bool known = quoted[0] >> 4 == 4 && (quoted[9] == kIpProtocolTcp || quoted[9] == kIpProtocolSctp);
  if (!known || header < Ipv4Header::kBytes || quoted.size() < header + kQuotedPayload) return std::nullopt;
  FragmentationNeeded m;
  m.next_hop_mtu = load_be16(message.data() + kMtuOffset);
  m.src.v = load_be32(quoted.data() + 12);
  m.dst.v = load_be32(quoted.data() + 16);
  m.src_port = load_be16(quoted.data() + header);
  m.dst_port = load_be16(quoted.data() + header + 2);
  m.protocol = quoted[9];
  m.word = load_be32(quoted.data() + header + 4);
  return m;
}

}  // namespace rnic::wire
