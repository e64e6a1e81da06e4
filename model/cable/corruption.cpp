#include "model/cable/corruption.h"

#include "model/cable/tcp_frame.h"
#include "model/wire/ethernet.h"

namespace rnic {
namespace {

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
  auto tcp = TcpFrame::parse(frame);
  if (!tcp || tcp->payload_bytes() == 0) return false;
  tcp->copy(pool);
  flip(tcp->payload().data(), 8 * tcp->payload_bytes(), prng);
  tcp->seal();
  return true;
}

}  // namespace rnic
