// A second implementation of RFC 7306 section 5.1 for tests, bit by bit as a ripple-carry adder does it.
#pragma once

#include <cstdint>

namespace rnic::test {

inline std::uint64_t reference_add(std::uint64_t value, std::uint64_t add, std::uint64_t tops) {
  std::uint64_t sum = 0;
  unsigned carry = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto digit = static_cast<unsigned>((value >> bit & 1) + (add >> bit & 1)) + carry;
    sum |= std::uint64_t{digit & 1} << bit;
    carry = (tops >> bit & 1) != 0 ? 0 : digit >> 1;
  }
  return sum;
}

inline std::uint64_t reference_swap(std::uint64_t value, std::uint64_t compare, std::uint64_t compare_mask,
                                    std::uint64_t swap, std::uint64_t swap_mask) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((compare_mask >> bit & 1) != 0 && (value >> bit & 1) != (compare >> bit & 1)) return value;
  }
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    result |= (((swap_mask >> bit & 1) != 0 ? swap : value) >> bit & 1) << bit;
  }
  return result;
}

}  // namespace rnic::test
