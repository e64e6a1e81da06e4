// Windows on bytes owned elsewhere, and big-endian access to them. Freestanding: the firmware uses it too.
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

// Integers of either byte order at any address, by the compiler's own loads and stores: with shifts of octets, g++ -O3
// vectorizes loops into code that is several times slower.
namespace detail {

constexpr bool kLittleEndian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

template <class U>
constexpr U reversed(U v) {
  if constexpr (sizeof(U) == 2) return __builtin_bswap16(v);
  else if constexpr (sizeof(U) == 4) return __builtin_bswap32(v);
  else return __builtin_bswap64(v);
}
template <class U, bool kReverse>
constexpr U load(const std::uint8_t* p) {
  U v = 0;
  if (__builtin_is_constant_evaluated()) {
    for (std::size_t i = 0; i < sizeof(U); ++i)
      v |= static_cast<U>(U{p[i]} << 8 * (kLittleEndian ? i : sizeof(U) - 1 - i));
  } else {
    __builtin_memcpy(&v, p, sizeof v);
  }
  return kReverse ? reversed(v) : v;
}
template <bool kReverse, class U>
constexpr void store(std::uint8_t* p, U v) {
  if (kReverse) v = reversed(v);
  if (__builtin_is_constant_evaluated()) {
    for (std::size_t i = 0; i < sizeof(U); ++i)
      p[i] = static_cast<std::uint8_t>(v >> 8 * (kLittleEndian ? i : sizeof(U) - 1 - i));
  } else {
    __builtin_memcpy(p, &v, sizeof v);
  }
}

}  // namespace detail

constexpr std::uint16_t load_be16(const std::uint8_t* p) {
  return detail::load<std::uint16_t, detail::kLittleEndian>(p);
}
constexpr std::uint32_t load_be32(const std::uint8_t* p) {
  return detail::load<std::uint32_t, detail::kLittleEndian>(p);
}
constexpr std::uint64_t load_be64(const std::uint8_t* p) {
  return detail::load<std::uint64_t, detail::kLittleEndian>(p);
}
constexpr std::uint16_t load_le16(const std::uint8_t* p) {
  return detail::load<std::uint16_t, !detail::kLittleEndian>(p);
}
constexpr std::uint32_t load_le32(const std::uint8_t* p) {
  return detail::load<std::uint32_t, !detail::kLittleEndian>(p);
}
constexpr std::uint64_t load_le64(const std::uint8_t* p) {
  return detail::load<std::uint64_t, !detail::kLittleEndian>(p);
}

constexpr void store_be16(std::uint8_t* p, std::uint16_t v) { detail::store<detail::kLittleEndian>(p, v); }
constexpr void store_be32(std::uint8_t* p, std::uint32_t v) { detail::store<detail::kLittleEndian>(p, v); }
constexpr void store_be64(std::uint8_t* p, std::uint64_t v) { detail::store<detail::kLittleEndian>(p, v); }
constexpr void store_le32(std::uint8_t* p, std::uint32_t v) { detail::store<!detail::kLittleEndian>(p, v); }
constexpr void store_le64(std::uint8_t* p, std::uint64_t v) { detail::store<!detail::kLittleEndian>(p, v); }

}  // namespace rnic
