// When a scripted neighbour is ready: a pure function of the cycle, so a test reads as what it does.
#pragma once

#include <cstdint>

#include "model/common/clock_domain.h"
#include "model/common/prng.h"

namespace rnic::test {

class Pattern {
 public:
  constexpr Pattern() = default;
  // In each `period` cycles, the first `paused` ones are pauses.
  static constexpr Pattern every(Cycle period, Cycle paused) { return {Kind::kEvery, period, paused}; }
  // Each cycle is a pause with the given probability, drawn from the seed.
  static constexpr Pattern random(std::uint64_t seed, unsigned percent) { return {Kind::kRandom, seed, percent}; }
  // Pauses in [from, to).
  static constexpr Pattern window(Cycle from, Cycle to) { return {Kind::kWindow, from, to}; }

  bool pauses(Cycle c) const {
    switch (kind_) {
      case Kind::kEvery:
        return c % a_ < b_;
      case Kind::kRandom:
        return mix64(a_ ^ mix64(c)) % 100 < b_;
      case Kind::kWindow:
        return c >= a_ && c < b_;
      case Kind::kNever:
        break;
    }
    return false;
  }

 private:
  enum class Kind { kNever, kEvery, kRandom, kWindow };
  constexpr Pattern(Kind kind, std::uint64_t a, std::uint64_t b) : kind_(kind), a_(a), b_(b) {}
  Kind kind_ = Kind::kNever;
  std::uint64_t a_ = 0, b_ = 0;
};

inline constexpr Pattern every(Cycle period, Cycle paused) { return Pattern::every(period, paused); }
inline constexpr Pattern at_random(std::uint64_t seed, unsigned percent) { return Pattern::random(seed, percent); }
inline constexpr Pattern window(Cycle from, Cycle to) { return Pattern::window(from, to); }

}  // namespace rnic::test
