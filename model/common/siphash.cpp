#include "model/common/siphash.h"

namespace rnic {
namespace {

constexpr std::uint64_t rotate(std::uint64_t v, unsigned by) { return v << by | v >> (64 - by); }

struct State {
  std::uint64_t v0, v1, v2, v3;
  void rounds(unsigned n) {
    while (n-- != 0) {
      v0 += v1, v2 += v3;
      v1 = rotate(v1, 13) ^ v0, v3 = rotate(v3, 16) ^ v2;
      v0 = rotate(v0, 32);
      v2 += v1, v0 += v3;
      v1 = rotate(v1, 17) ^ v2, v3 = rotate(v3, 21) ^ v0;
      v2 = rotate(v2, 32);
    }
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash(const SipKey& key, ByteSpan octets) {
  State s{key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du, key.k0 ^ 0x6c7967656e657261u,
          key.k1 ^ 0x7465646279746573u};
  std::uint64_t word = std::uint64_t{octets.size()} << 56;  // the last one has the length
  std::size_t i = 0;
  for (; octets.size() - i >= 8; i += 8) s.absorb(load_le64(octets.data() + i));
  for (unsigned shift = 0; i != octets.size(); ++i, shift += 8) word |= std::uint64_t{octets[i]} << shift;
  s.absorb(word);
  s.v2 ^= 0xff;
  s.rounds(4);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

std::uint64_t SipStream::next() {
  std::uint8_t octets[8];
  store_le64(octets, drawn_++);
  return siphash(key_, {octets, sizeof octets});
}

}  // namespace rnic
