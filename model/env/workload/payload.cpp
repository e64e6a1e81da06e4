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

std::uint64_t PayloadGenerator::word(std::uint64_t message, std::uint64_t index) const {
  if (pattern_ == Pattern::kRandom) return mix64(seed_ + message * 0x100000001b3u + index);
  std::uint64_t w = 0;
  for (unsigned i = 8; i-- > 0;) w = w << 8 | static_cast<std::uint8_t>(message + 8 * index + i);
  return w;
}

void PayloadGenerator::fill(MutableByteSpan to, std::uint64_t message) const {
  std::size_t i = 0;
  for (; i + 8 <= to.size(); i += 8) store_le64(to.data() + i, word(message, i / 8));
  if (i == to.size()) return;
  std::uint64_t rest = word(message, i / 8);
  for (; i < to.size(); ++i, rest >>= 8) to[i] = static_cast<std::uint8_t>(rest);
}

std::optional<PayloadGenerator::Difference> PayloadGenerator::compare(ByteSpan found, std::uint64_t message) const {
  for (std::size_t i = 0; i < found.size(); i += 8) {
    std::uint64_t expected = word(message, i / 8);
    if (i + 8 <= found.size() && load_le64(found.data() + i) == expected) continue;
    for (std::size_t j = i; j < std::min(i + 8, found.size()); ++j, expected >>= 8) {
      const auto octet = static_cast<std::uint8_t>(expected);
      if (found[j] != octet) return Difference{j, octet, found[j]};
    }
  }
  return std::nullopt;
}

}  // namespace rnic::workload
