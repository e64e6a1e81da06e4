#include "model/env/workload/payload.h"

#include <algorithm>

#include "model/common/prng.h"

namespace rnic::workload {
namespace {

constexpr unsigned log2_floor(std::uint32_t v) { return v == 0 ? 0 : 31 - static_cast<unsigned>(__builtin_clz(v)); }

// An octave with equal probability, then a size within it with equal probability: uniform in the logarithm to the
// octave, and in integers.
std::uint32_t log_uniform(Prng& prng, const SizeSpec& s) {
  const auto octave = static_cast<unsigned>(prng.between(log2_floor(s.min), log2_floor(s.max)));
  const std::uint64_t lo = octave == 0 ? 0 : std::uint64_t{1} << octave, hi = (std::uint64_t{2} << octave) - 1;
  return static_cast<std::uint32_t>(
      prng.between(std::max<std::uint64_t>(lo, s.min), std::min<std::uint64_t>(hi, s.max)));
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

// Octets 8 * index and on, little-endian: each pattern is a function object, so that the loops below inline it.
struct PayloadGenerator::RandomWords {
  std::uint64_t base;
  std::uint64_t operator()(std::uint64_t index) const { return mix64(base + index); }
};
struct PayloadGenerator::CountingWords {
  std::uint64_t base;
  std::uint64_t operator()(std::uint64_t index) const {
    std::uint64_t w = 0;
    for (unsigned i = 8; i-- > 0;) w = w << 8 | static_cast<std::uint8_t>(base + 8 * index + i);
    return w;
  }
};

template <class F>
auto PayloadGenerator::with_words(std::uint64_t message, F f) const {
  return pattern_ == Pattern::kRandom ? f(RandomWords{seed_ + message * 0x100000001b3u}) : f(CountingWords{message});
}

void PayloadGenerator::fill(MutableByteSpan to, std::uint64_t message) const {
  with_words(message, [to](auto word) {
    std::uint8_t* const data = to.data();
    const std::size_t words = to.size() / 8, rest = to.size() % 8;
    for (std::size_t i = 0; i < words; ++i) store_le64(data + 8 * i, word(i));
    if (rest == 0) return;
    std::uint64_t tail = word(words);
    for (std::size_t i = 0; i < rest; ++i, tail >>= 8) data[8 * words + i] = static_cast<std::uint8_t>(tail);
  });
}

std::optional<PayloadGenerator::Difference> PayloadGenerator::compare(ByteSpan found, std::uint64_t message) const {
  return with_words(message, [found](auto word) -> std::optional<Difference> {
    const std::uint8_t* const data = found.data();
    const std::size_t words = found.size() / 8;
    std::size_t i = 0;
    while (i < words && load_le64(data + 8 * i) == word(i)) ++i;
    if (8 * i == found.size()) return std::nullopt;
    std::uint64_t expected = word(i);
    for (std::size_t j = 8 * i; j < std::min(8 * i + 8, found.size()); ++j, expected >>= 8) {
      const auto octet = static_cast<std::uint8_t>(expected);
      if (data[j] != octet) return Difference{j, octet, data[j]};
    }
    return std::nullopt;
  });
}

}  // namespace rnic::workload
