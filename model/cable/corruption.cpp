#include "model/cable/corruption.h"

#include "model/cable/tcp_frame.h"
#include "model/wire/ethernet.h"

namespace rnic {
namespace {

BitPlace flip(std::uint8_t* frame, std::size_t first, std::size_t bits, Prng& prng) {
  const std::uint64_t bit = prng.below(bits);
  const std::size_t octet = first + bit / 8;
  frame[octet] = static_cast<std::uint8_t>(frame[octet] ^ (1u << (bit % 8)));
  return {static_cast<std::uint32_t>(octet), static_cast<std::uint32_t>(7 - bit % 8)};
}

}  // namespace

std::optional<BitPlace> flip_bit(Frame& frame, BufferPool& pool, Prng& prng) {
  constexpr std::uint32_t kHeader = wire::EthernetHeader::kBytes;
  if (frame.bytes <= kHeader) return std::nullopt;
  return flip(own_copy(frame, pool), kHeader, 8 * std::size_t{frame.bytes - kHeader}, prng);
}

std::optional<BitPlace> flip_payload_bit(Frame& frame, BufferPool& pool, Prng& prng) {
  auto tcp = TcpFrame::parse(frame);
  if (!tcp || tcp->payload_bytes() == 0) return std::nullopt;
  tcp->copy(pool);
  const MutableByteSpan payload = tcp->payload();
  std::uint8_t* const octets = frame.buf->bytes() + frame.offset;
  const BitPlace place =
      flip(octets, static_cast<std::size_t>(payload.data() - octets), 8 * tcp->payload_bytes(), prng);
  tcp->seal();
  return place;
}

bool mark_congestion(Frame& frame, BufferPool& pool) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4) return false;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || ip->header_bytes.size() != wire::Ipv4Header::kBytes) return false;  // ours have no options
  wire::Ipv4Header header = ip->header;
  const unsigned ecn = header.tos & wire::kEcnMask;
  if (ecn == wire::kNotEct || ecn == wire::kCongestionExperienced) return false;
  header.tos |= wire::kCongestionExperienced;
  const auto at = static_cast<std::size_t>(ip->header_bytes.data() - frame.data());
  header.emit({own_copy(frame, pool) + at, wire::Ipv4Header::kBytes});
  return true;
}

}  // namespace rnic
