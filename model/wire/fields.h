// A header lists its fields once, in wire order; reader and writer walk the same list, so parse and emit agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

// Loads big-endian fields in sequence; the length was checked before.
class FieldReader {
 public:
  constexpr explicit FieldReader(const std::uint8_t* at) : at_(at) {}
  template <class... T>
  constexpr void operator()(T&... field) {
    (load(field), ...);
  }
  constexpr void reserved(std::size_t octets) { at_ += octets; }  // not checked

 private:
  template <class T>
  constexpr void load(T& field) {
    field = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) field = static_cast<T>(std::uint64_t{field} << 8 | at_[i]);
    at_ += sizeof(T);
  }
  const std::uint8_t* at_;
};

// Stores big-endian fields in sequence.
class FieldWriter {
 public:
  constexpr explicit FieldWriter(std::uint8_t* at) : at_(at) {}
  template <class... T>
  constexpr void operator()(const T&... field) {
    (store(field), ...);
  }
  constexpr void reserved(std::size_t octets) {
    for (; octets != 0; --octets) *at_++ = 0;
  }

 private:
  template <class T>
  constexpr void store(T field) {
    for (std::size_t i = sizeof(T); i != 0; --i) {
      at_[i - 1] = static_cast<std::uint8_t>(field);
      field = static_cast<T>(std::uint64_t{field} >> 8);
    }
    at_ += sizeof(T);
  }
  std::uint8_t* at_;
};

// For a header H with H::kBytes and `template <class Self, class F> static void fields(Self&, F&)`.
template <class H>
constexpr std::optional<H> parse_fields(ByteSpan bytes) {
  if (bytes.size() < H::kBytes) return std::nullopt;
  H header;
  FieldReader reader(bytes.data());
  H::fields(header, reader);
  return header;
}
template <class H>
constexpr std::size_t emit_fields(const H& header, MutableByteSpan out) {
  if (out.size() < H::kBytes) return 0;
  FieldWriter writer(out.data());
  H::fields(header, writer);
  return H::kBytes;
}

}  // namespace rnic::wire
