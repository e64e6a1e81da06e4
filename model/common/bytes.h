// Windows on bytes that somebody else owns, and big-endian access to them. Freestanding: the firmware uses it too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnic {

// A read-only window on bytes. Indexing is unchecked: views check the length once, in parse().
class ByteSpan {
 public:
  constexpr ByteSpan() = default;
  constexpr ByteSpan(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr ByteSpan(const std::uint8_t (&array)[N]) : data_(array), size_(N) {}
  // Any contiguous container of octets (std::vector, std::array, MutableByteSpan).
  template <class C, class = decltype(static_cast<const std::uint8_t*>(static_cast<const C*>(nullptr)->data()))>
  constexpr ByteSpan(const C& c) : data_(c.data()), size_(c.size()) {}

  constexpr const std::uint8_t* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::uint8_t operator[](std::size_t i) const { return data_[i]; }
  constexpr const std::uint8_t* begin() const { return data_; }
  constexpr const std::uint8_t* end() const { return data_ + size_; }

  // Both clamp to the window: a piece beyond the end is shorter or empty, never outside.
  constexpr ByteSpan subspan(std::size_t offset) const {
    return offset >= size_ ? ByteSpan{} : ByteSpan{data_ + offset, size_ - offset};
  }
  constexpr ByteSpan subspan(std::size_t offset, std::size_t count) const {
    const ByteSpan rest = subspan(offset);
    return {rest.data_, count < rest.size_ ? count : rest.size_};
  }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// A writable window on bytes.
class MutableByteSpan {
 public:
  constexpr MutableByteSpan() = default;
  constexpr MutableByteSpan(std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr MutableByteSpan(std::uint8_t (&array)[N]) : data_(array), size_(N) {}
  template <class C, class = decltype(static_cast<std::uint8_t*>(static_cast<C*>(nullptr)->data()))>
  constexpr MutableByteSpan(C& c) : data_(c.data()), size_(c.size()) {}

  constexpr std::uint8_t* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::uint8_t& operator[](std::size_t i) const { return data_[i]; }
  constexpr MutableByteSpan subspan(std::size_t offset) const {
    return offset >= size_ ? MutableByteSpan{} : MutableByteSpan{data_ + offset, size_ - offset};
  }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

constexpr std::uint16_t load_be16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] << 8 | p[1]); }
constexpr std::uint32_t load_be32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
constexpr std::uint64_t load_be64(const std::uint8_t* p) {
  return std::uint64_t{load_be32(p)} << 32 | load_be32(p + 4);
}
constexpr std::uint32_t load_le32(const std::uint8_t* p) {
  return std::uint32_t{p[3]} << 24 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[1]} << 8 | p[0];
}
constexpr std::uint64_t load_le64(const std::uint8_t* p) {
  return std::uint64_t{load_le32(p + 4)} << 32 | load_le32(p);
}

constexpr void store_be16(std::uint8_t* p, std::uint16_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}
constexpr void store_be32(std::uint8_t* p, std::uint32_t v) {
  store_be16(p, static_cast<std::uint16_t>(v >> 16));
  store_be16(p + 2, static_cast<std::uint16_t>(v));
}
constexpr void store_be64(std::uint8_t* p, std::uint64_t v) {
  store_be32(p, static_cast<std::uint32_t>(v >> 32));
  store_be32(p + 4, static_cast<std::uint32_t>(v));
}
constexpr void store_le32(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v);
  p[1] = static_cast<std::uint8_t>(v >> 8);
  p[2] = static_cast<std::uint8_t>(v >> 16);
  p[3] = static_cast<std::uint8_t>(v >> 24);
}
constexpr void store_le64(std::uint8_t* p, std::uint64_t v) {
  store_le32(p, static_cast<std::uint32_t>(v));
  store_le32(p + 4, static_cast<std::uint32_t>(v >> 32));
}

}  // namespace rnic
