// Big-endian numbers in strings of octets: the far end's own code, without any of the model's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace far_end {

using Bytes = std::vector<std::uint8_t>;

// Appends the number's `N` octets.
template <unsigned N>
void put(Bytes& octets, std::uint64_t number) {
  for (unsigned i = N; i-- > 0;) octets.push_back(static_cast<std::uint8_t>(number >> 8 * i));
}

template <unsigned N>
std::uint64_t get(const std::uint8_t* octets) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < N; ++i) number = number << 8 | octets[i];
  return number;
}

inline void append(Bytes& octets, const Bytes& more) { octets.insert(octets.end(), more.begin(), more.end()); }

}  // namespace far_end
