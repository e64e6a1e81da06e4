#include "model/programs/workload/payload.h"

#include <algorithm>

#include "model/common/prng.h"
#include "model/common/vector_unit.h"

namespace rnic::workload {
namespace {

constexpr unsigned log2_floor(std::uint32_t v) { return v == 0 ? 0 : 31 - static_cast<unsigned>(__builtin_clz(v)); }

// Draws an octave uniformly, then a size uniformly within it: uniform in the logarithm to within an octave, using
// integers only.
std::uint32_t log_uniform(Prng& prng, const SizeSpec& s) {
  const auto octave = static_cast<unsigned>(prng.between(log2_floor(s.min), log2_floor(s.max)));
  const std::uint64_t lo = octave == 0 ? 0 : std::uint64_t{1} << octave, hi = (std::uint64_t{2} << octave) - 1;
  return static_cast<std::uint32_t>(
      prng.between(std::max<std::uint64_t>(lo, s.min), std::min<std::uint64_t>(hi, s.max)));
}

// One multiplication per word: contents must differ everywhere, and a run makes and compares every octet that moves.
class RandomWords {
 public:
  RandomWords(std::uint64_t seed, std::uint64_t message) : key_(mix64(seed ^ mix64(message))) {}
  [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t index) const {
    const std::uint64_t x = key_ + index * 0x9e3779b97f4a7c15u;
    return (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
  }

 private:
  const std::uint64_t key_;
};

// Octet i is message + i, modulo 256.
class CountingWords {
 public:
  CountingWords(std::uint64_t, std::uint64_t message) : first_(static_cast<std::uint8_t>(message)) {}
  [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t index) const {
    std::uint64_t w = 0;
    for (unsigned i = 8; i-- > 0;) w = w << 8 | static_cast<std::uint8_t>(first_ + 8 * index + i);
    return w;
  }

 private:
  const std::uint8_t first_;
};

template <class Words>
void fill_with(const Words& word, MutableByteSpan to) {
  const std::size_t words = to.size() / 8;
  vectorized([ word, octets = to.data(), words ]() __attribute__((always_inline)) {
    for (std::size_t i = 0; i < words; ++i) store_le64(octets + 8 * i, word(i));
  });
  std::size_t i = 8 * words;
  if (i == to.size()) return;
  std::uint64_t rest = word(words);
  for (; i < to.size(); ++i, rest >>= 8) to[i] = static_cast<std::uint8_t>(rest);
}

// The number of whole blocks at the beginning that are correct, almost always all of them.
constexpr std::size_t kBlock = 256;
template <class Words>
std::size_t equal_blocks(const Words& word, ByteSpan found) {
  return vectorized([ word, octets = found.data(), blocks = found.size() / kBlock ]() __attribute__((always_inline)) {
    for (std::size_t block = 0; block < blocks; ++block) {
      std::uint64_t difference = 0;
      for (std::size_t i = block * kBlock / 8; i < (block + 1) * kBlock / 8; ++i) {
        difference |= load_le64(octets + 8 * i) ^ word(i);
      }
      if (difference != 0) return block;
    }
    return blocks;
  });
}

template <class Words>
std::optional<PayloadGenerator::Difference> compare_with(const Words& word, ByteSpan found) {
  std::size_t i = kBlock * equal_blocks(word, found);
  for (; i < found.size(); i += 8) {
    std::uint64_t expected = word(i / 8);
    if (i + 8 <= found.size() && load_le64(found.data() + i) == expected) continue;
    for (std::size_t j = i; j < std::min(i + 8, found.size()); ++j, expected >>= 8) {
      const auto octet = static_cast<std::uint8_t>(expected);
      if (found[j] != octet) return PayloadGenerator::Difference{j, octet, found[j]};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> message_sizes(const SizeSpec& spec, std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> sizes(count);
  Prng prng(seed);
  std::uint64_t power = std::uint64_t{1} << log2_floor(spec.min);
  if (power < spec.min) power *= 2;
  const std::uint64_t first = power;
  for (std::uint32_t& size : sizes) {
    switch (spec.law) {
      case SizeLaw::kFixed:
        size = spec.min;
        break;
      case SizeLaw::kUniform:
        size = static_cast<std::uint32_t>(prng.between(spec.min, spec.max));
        break;
      case SizeLaw::kLogUniform:
        size = log_uniform(prng, spec);
        break;
      case SizeLaw::kPowersOfTwo:
        size = static_cast<std::uint32_t>(power);
        power = power * 2 > spec.max ? first : power * 2;
        break;
    }
  }
  return sizes;
}

void PayloadGenerator::fill(MutableByteSpan to, std::uint64_t message) const {
  if (pattern_ == Pattern::kRandom) fill_with(RandomWords(seed_, message), to);
  else fill_with(CountingWords(seed_, message), to);
}

std::optional<PayloadGenerator::Difference> PayloadGenerator::compare(ByteSpan found, std::uint64_t message) const {
  if (pattern_ == Pattern::kRandom) return compare_with(RandomWords(seed_, message), found);
  return compare_with(CountingWords(seed_, message), found);
}

}  // namespace rnic::workload
