#include "model/wire/icmp.h"

#include "model/wire/checksum.h"

namespace rnic::wire {

std::optional<FragmentationNeeded> FragmentationNeeded::parse(ByteSpan message) {
  if (message.size() < kBytes + Ipv4Header::kBytes + kTcpBytes) return std::nullopt;
  if (message[0] != kType || message[1] != kCode) return std::nullopt;
  ChecksumAccumulator sum;
  sum.add(message);
  if (sum.checksum() != 0) return std::nullopt;
  // The quotation is cut, so its total length says more than there is.
  const ByteSpan quoted = message.subspan(kBytes);
  const std::size_t header = std::size_t{quoted[0] & 0xfu} * 4;
  const bool of_tcp = quoted[0] >> 4 == 4 && quoted[9] == kIpProtocolTcp;
  if (!of_tcp || header < Ipv4Header::kBytes || quoted.size() < header + kTcpBytes) return std::nullopt;
  FragmentationNeeded m;
  m.next_hop_mtu = load_be16(message.data() + 6);
  m.src.v = load_be32(quoted.data() + 12);
  m.dst.v = load_be32(quoted.data() + 16);
  m.src_port = load_be16(quoted.data() + header);
  m.dst_port = load_be16(quoted.data() + header + 2);
  m.seq = load_be32(quoted.data() + header + 4);
  return m;
}

}  // namespace rnic::wire
