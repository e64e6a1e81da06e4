// Fields of packed octets, read without the code that packs them.
#pragma once

#include <cstdint>

namespace rnic::test {

// Bits of little-endian octets.
inline std::uint64_t bits_of(const std::uint8_t* octets, unsigned first, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) {
    value |= std::uint64_t{octets[(first + i) / 8] >> (first + i) % 8 & 1u} << i;
  }
  return value;
}

}  // namespace rnic::test
