#include "model/env/link/corruption.h"

#include <cstring>

#include "model/wire/checksum.h"
#include "model/wire/ethernet.h"
#include "model/wire/tcp.h"

namespace rnic {
namespace {

std::uint8_t* own_copy(Frame& frame, BufferPool& pool) {
  RNIC_CHECK(frame.bytes <= pool.block_bytes());
  BufferRef copy = pool.take();
  std::memcpy(copy->bytes(), frame.data(), frame.bytes);
  frame.buf = std::move(copy);
  frame.offset = 0;
  return frame.buf->bytes();
}

void flip(std::uint8_t* octets, std::size_t bits, Prng& prng) {
  const std::uint64_t bit = prng.below(bits);
  octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] ^ (1u << (bit % 8)));
}

}  // namespace

bool flip_bit(Frame& frame, BufferPool& pool, Prng& prng) {
  constexpr std::uint32_t kHeader = wire::EthernetHeader::kBytes;
  if (frame.bytes <= kHeader) return false;
  flip(own_copy(frame, pool) + kHeader, 8 * std::size_t{frame.bytes - kHeader}, prng);
  return true;
}

bool flip_payload_bit(Frame& frame, BufferPool& pool, Prng& prng) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  if (!ethernet || ethernet->header.ethertype != wire::kEthertypeIpv4) return false;
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (!ip || ip->header.protocol != wire::kIpProtocolTcp || ip->header.is_fragment()) return false;
  const auto tcp = wire::TcpView::parse(ip->payload);
  if (!tcp || tcp->payload.empty()) return false;
  const std::size_t segment = static_cast<std::size_t>(ip->payload.data() - frame.data());
  const std::size_t payload = static_cast<std::size_t>(tcp->payload.data() - frame.data());
  const std::size_t segment_bytes = ip->payload.size(), payload_bytes = tcp->payload.size();

  std::uint8_t* const octets = own_copy(frame, pool);
  flip(octets + payload, 8 * payload_bytes, prng);
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(ip->header.src, ip->header.dst, segment_bytes);
  std::uint8_t* const checksum = octets + segment + wire::TcpHeader::kChecksumOffset;
  store_be16(checksum, 0);
  sum.add({octets + segment, segment_bytes});
  store_be16(checksum, sum.checksum());
  return true;
}

}  // namespace rnic
