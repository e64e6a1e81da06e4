#include "model/wire/checksum.h"

#include <cstring>

#include "model/common/vector_unit.h"

namespace rnic::wire {
namespace {

std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & 0xffffffffu) + (sum >> 32);
  sum = (sum & 0xffffffffu) + (sum >> 32);
  sum = (sum & 0xffffu) + (sum >> 16);
  sum = (sum & 0xffffu) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

constexpr std::uint16_t swapped(std::uint16_t v) { return static_cast<std::uint16_t>(v << 8 | v >> 8); }

// The sum does not depend on the byte order of the words but for a final swap, so words are loaded in machine order.
constexpr std::uint16_t from_machine_order(std::uint16_t v) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? swapped(v) : v;
}

}  // namespace

void ChecksumAccumulator::add(ByteSpan piece) {
  const std::size_t words_of_64 = piece.size() / sizeof(std::uint64_t), left = piece.size() % sizeof(std::uint64_t);
  std::uint64_t sum = vectorized([ octets = piece.data(), words_of_64 ]() __attribute__((always_inline)) {
    std::uint64_t of_words = 0;
    for (std::size_t i = 0; i < words_of_64; ++i) {
      std::uint64_t word;
      std::memcpy(&word, octets + i * sizeof word, sizeof word);
      of_words += (word & 0xffffffffu) + (word >> 32);
    }
    return of_words;
  });
  if (left != 0) {
    std::uint64_t tail = 0;
    std::memcpy(&tail, piece.data() + piece.size() - left, left);
    sum += (tail & 0xffffffffu) + (tail >> 32);
  }
  const std::uint16_t words = from_machine_order(fold(sum));
  sum_ += odd_ ? swapped(words) : words;
  odd_ ^= piece.size() % 2;
}

void ChecksumAccumulator::add_word(std::uint16_t value) { sum_ += odd_ ? swapped(value) : value; }

std::uint16_t ChecksumAccumulator::partial() const { return fold(sum_); }

ChecksumAccumulator tcp_pseudo_header(Ipv4Address src, Ipv4Address dst, std::size_t tcp_bytes) {
  ChecksumAccumulator sum;
  sum.add_u32(src.v);
  sum.add_u32(dst.v);
  sum.add_u16(kIpProtocolTcp);
  sum.add_u32(static_cast<std::uint32_t>(tcp_bytes));  // more than 16 bits before segmentation offload
  return sum;
}

ChecksumAccumulator tcp_pseudo_header(const Ipv6Address& src, const Ipv6Address& dst, std::size_t tcp_bytes) {
  ChecksumAccumulator sum;
  sum.add(src.octets);
  sum.add(dst.octets);
  sum.add_u32(static_cast<std::uint32_t>(tcp_bytes));
  sum.add_u32(kIpProtocolTcp);
  return sum;
}

}  // namespace rnic::wire
