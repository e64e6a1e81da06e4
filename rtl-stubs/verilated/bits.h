// Messages as bits: the fields that Message<M>::fields names, the first one in the most significant place, as in a
// packed structure of SystemVerilog.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "model/common/bytes.h"
#include "model/common/check.h"
#include "model/common/message.h"

namespace rnic::rtl {

using CData = std::uint8_t;  // Verilator's name for a port of up to 8 bits

class CountBits : public FieldVisitor<CountBits> {
 public:
  template <class T>
  void number(unsigned width, const T&) {
    bits += width;
  }
  template <std::size_t N>
  void octets(const char*, const std::array<std::uint8_t, N>&) {
    bits += 8 * N;
  }
  unsigned bits = 0;
};

class PackBits : public FieldVisitor<PackBits> {
 public:
  // `end` is the number of bits to come. Each pair of words is written once, by the field that begins in its lowest bit
  // or across it.
  PackBits(std::uint32_t* words, std::size_t count, unsigned end) : words_(words), count_(count), at_(end) {}
  template <class T>
  void number(unsigned width, const T& number) {
    const auto value = static_cast<std::uint64_t>(number);
    RNIC_CHECK(width == 64 || value >> width == 0);
    put(width, value);
  }
  template <std::size_t N>
  void octets(const char*, const std::array<std::uint8_t, N>& octets) {
    static_assert(N >= 8);
    constexpr unsigned kRest = N % 8;
    if constexpr (kRest != 0) put(8 * kRest, load_le64(octets.data() + N - 8) >> (64 - 8 * kRest));
    for (std::size_t i = N - kRest; i != 0; i -= 8) put(64, load_le64(octets.data() + i - 8));
  }
  // Writes the last pair, if the last field does not begin in its lowest bit.
  void finish() {
    if (at_ % 64 != 0) write(at_ / 64, pair_);
  }

 private:
  void put(unsigned width, std::uint64_t value) {
    at_ -= width;
    const unsigned shift = at_ % 64;
    if (shift + width > 64) {
      write(at_ / 64 + 1, pair_ | value >> (64 - shift));
      pair_ = 0;
    }
    pair_ |= value << shift;
    if (shift != 0) return;
    write(at_ / 64, pair_);
    pair_ = 0;
  }
  void write(std::size_t pair, std::uint64_t value) {
    words_[2 * pair] = static_cast<std::uint32_t>(value);
    if (2 * pair + 1 < count_) words_[2 * pair + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  std::uint32_t* const words_;
  const std::size_t count_;
  unsigned at_;             // the end of the next field
  std::uint64_t pair_ = 0;  // the bits above at_ in its pair
};

class UnpackBits : public FieldVisitor<UnpackBits> {
 public:
  UnpackBits(const std::uint64_t* pairs, unsigned end) : pairs_(pairs), at_(end) {}
  template <class T>
  void number(unsigned width, T& number) {
    number = static_cast<T>(get(at_ -= width, width));
  }
  template <std::size_t N>
  void octets(const char*, std::array<std::uint8_t, N>& octets) {
    at_ -= 8 * N;
    static_assert(N >= 8);
    for (unsigned i = 0; i + 8 <= N; i += 8) store_le64(octets.data() + i, get(at_ + 8 * i, 64));
    if constexpr (N % 8 != 0) store_le64(octets.data() + N - 8, get(at_ + 8 * (N - 8), 64));
  }

 private:
  std::uint64_t get(unsigned at, unsigned width) const {
    const unsigned shift = at % 64;
    std::uint64_t value = pairs_[at / 64] >> shift;
    if (shift + width > 64) value |= pairs_[at / 64 + 1] << (64 - shift);
    return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
  }
  const std::uint64_t* const pairs_;
  unsigned at_;
};

template <class M>
unsigned bits_of(const M& message) {
  CountBits count;
  visit_fields(count, message);
  return count.bits;
}

// Verilator's ports: numbers up to 64 bits; wider ones are arrays of 32-bit words, least significant first.
template <class P>
constexpr std::size_t kPortWords = std::is_integral_v<P> ? 2 : sizeof(P) / 4;
// The octets of such a port, least significant first. Ports of another form bring functions of their own.
template <class P>
constexpr std::size_t port_octets(const P&) {
  return sizeof(P);
}
template <class P>
std::uint8_t* port_data(P& port) {
  return reinterpret_cast<std::uint8_t*>(&port);
}
template <class P>
const std::uint8_t* port_data(const P& port) {
  return reinterpret_cast<const std::uint8_t*>(&port);
}
template <class P>
void clear(P& port) {
  std::memset(&port, 0, sizeof port);
}
template <class M, class P>
[[gnu::flatten]] void pack(const M& message, P& port) {
  const unsigned bits = bits_of(message);
  RNIC_CHECK((bits + 7) / 8 <= sizeof port);
  if constexpr (std::is_integral_v<P>) {
    std::uint32_t words[2] = {};
    PackBits v(words, 2, bits);
    visit_fields(v, message);
    port = static_cast<P>(std::uint64_t{words[1]} << 32 | words[0]);
  } else {
    for (std::size_t i = (bits + 31) / 32; i < kPortWords<P>; ++i) port[i] = 0;
    PackBits v(&port[0], kPortWords<P>, bits);
    visit_fields(v, message);
  }
}
// For a block that has no pins for a message's content.
template <class M>
void pack(const M&) {}
// Messages of one kind side by side in a port, number 0 in the least significant place.
template <class M, class P>
[[gnu::flatten]] void pack_element(const M& message, unsigned index, P& port) {
  const unsigned bits = bits_of(message);
  RNIC_CHECK((std::size_t{index + 1} * bits + 7) / 8 <= sizeof port);
  const unsigned shift = index * bits % 32;
  std::uint32_t words[kPortWords<P>] = {};
  PackBits v(words, kPortWords<P>, shift + bits);
  visit_fields(v, message);
  v.finish();
  for (unsigned i = 0; 32 * i < shift + bits; ++i) port[index * bits / 32 + i] |= words[i];
}
// The message's references stay as they are. The port, which its fields may alias, is copied: a compiler keeps local
// words in registers.
template <class P, class M>
[[gnu::flatten]] void unpack(const P& port, M& message) {
  const unsigned bits = bits_of(message);
  constexpr std::size_t kWords = kPortWords<P>;
  std::uint64_t pairs[(kWords + 1) / 2];
  if constexpr (std::is_integral_v<P>) {
    pairs[0] = port;
  } else {
    for (std::size_t i = 0; i + 1 < kWords; i += 2) pairs[i / 2] = std::uint64_t{port[i + 1]} << 32 | port[i];
    if constexpr (kWords % 2 != 0) pairs[kWords / 2] = port[kWords - 1];
  }
  UnpackBits v(pairs, bits);
  visit_fields(v, message);
}

}  // namespace rnic::rtl
