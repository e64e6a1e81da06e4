// Messages as bits: what fields() names, the first field in the most significant place, as in a packed structure of
// SystemVerilog. fields(v, message) calls v(name, width, field) for numbers, v(name, message) for messages inside, and
// v.octets(name, array) for octets, of which number i is in bits [8*i +: 8].
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

inline constexpr unsigned kMaxMessageWords = 64;
using MessageWords = std::array<std::uint32_t, kMaxMessageWords>;

struct CountBits {
  unsigned bits = 0;
  template <class T>
  void operator()(const char*, unsigned width, const T&) {
    bits += width;
  }
  template <class M>
  void operator()(const char*, M& message) {
    fields(*this, message);
  }
  template <std::size_t N>
  void octets(const char*, const std::array<std::uint8_t, N>&) {
    bits += 8 * N;
  }
};
template <class M>
unsigned bits_of(const M& message) {
  CountBits count;
  fields(count, message);
  return count.bits;
}

// At most 64 bits at any place.
inline void put_bits(MessageWords& words, unsigned at, unsigned width, std::uint64_t value) {
  for (unsigned i = 0; i < width; ++i, ++at) words[at / 32] |= static_cast<std::uint32_t>(value >> i & 1) << at % 32;
}
inline std::uint64_t get_bits(const MessageWords& words, unsigned at, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i, ++at) value |= std::uint64_t{words[at / 32] >> at % 32 & 1} << i;
  return value;
}

struct PackBits {
  MessageWords& words;
  unsigned at;  // behind the next field
  template <class T>
  void operator()(const char*, unsigned width, const T& field) {
    put_bits(words, at -= width, width, static_cast<std::uint64_t>(field));
  }
  template <class M>
  void operator()(const char*, const M& message) {
    fields(*this, message);
  }
  template <std::size_t N>
  void octets(const char*, const std::array<std::uint8_t, N>& octets) {
    at -= 8 * N;
    for (std::size_t i = 0; i < N; ++i) put_bits(words, at + static_cast<unsigned>(8 * i), 8, octets[i]);
  }
};
struct UnpackBits {
  const MessageWords& words;
  unsigned at;
  template <class T>
  void operator()(const char*, unsigned width, T& field) {
    field = static_cast<T>(get_bits(words, at -= width, width));
  }
  template <class M>
  void operator()(const char*, M& message) {
    fields(*this, message);
  }
  template <std::size_t N>
  void octets(const char*, std::array<std::uint8_t, N>& octets) {
    at -= 8 * N;
    for (std::size_t i = 0; i < N; ++i) {
      octets[i] = static_cast<std::uint8_t>(get_bits(words, at + static_cast<unsigned>(8 * i), 8));
    }
  }
};

// Verilator's ports: numbers up to 64 bits, arrays of words beyond.
template <class P, class M>
void pack(const M& message, P& port) {
  MessageWords words{};
  fields(PackBits{words, bits_of(message)}, message);
  if constexpr (std::is_integral_v<P>) {
    port = static_cast<P>(std::uint64_t{words[1]} << 32 | words[0]);
  } else {
    for (unsigned i = 0; i < sizeof port / 4; ++i) port[i] = words[i];
  }
}
template <class P, class M>
void unpack(const P& port, M& message) {
  MessageWords words{};
  if constexpr (std::is_integral_v<P>) {
    words[0] = static_cast<std::uint32_t>(port);
    words[1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(port) >> 32);
  } else {
    for (unsigned i = 0; i < sizeof port / 4; ++i) words[i] = port[i];
  }
  fields(UnpackBits{words, bits_of(message)}, message);
}

}  // namespace rnic::rtl
