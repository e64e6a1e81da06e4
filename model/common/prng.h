// Seeded pseudo-random numbers: the same on every machine and in every build.
#pragma once

#include <cstdint>

namespace rnic {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a good hash of 64 bits.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// SplitMix64. Independent streams come from mix64(seed ^ a name's hash).
class Prng {
 public:
  constexpr explicit Prng(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() {
    const std::uint64_t out = mix64(state_);
    state_ += 0x9e3779b97f4a7c15u;
    return out;
  }
  // In [0, bound); bound >= 1. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // In [lo, hi].
  constexpr std::uint64_t between(std::uint64_t lo, std::uint64_t hi) { return lo + below(hi - lo + 1); }

 private:
  std::uint64_t state_;
};

}  // namespace rnic
