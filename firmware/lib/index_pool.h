// Hands out the numbers 0 to N-1, the most recently freed one first.
#pragma once

#include <cstdint>

namespace rnic::fw {

template <std::uint32_t N>
class IndexPool {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  constexpr IndexPool() {
    for (std::uint32_t i = 0; i < N; ++i) free_[i] = N - 1 - i;
  }
  constexpr std::uint32_t take() { return count_ == 0 ? kNone : free_[--count_]; }
  // False if all numbers are free already.
  [[nodiscard]] constexpr bool give_back(std::uint32_t index) {
    if (count_ == N) return false;
    free_[count_++] = index;
    return true;
  }
  constexpr std::uint32_t available() const { return count_; }

 private:
  std::uint32_t free_[N] = {};
  std::uint32_t count_ = N;
};

}  // namespace rnic::fw
