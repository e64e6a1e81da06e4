// Numbers and texts of DWARF debugging information (DWARF version 5, section 7), little-endian, in sequence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "model/common/bytes.h"

namespace rnic {

// Beyond the end of its octets it reads zeros and is no longer good(), so that a damaged file does no harm.
class DwarfReader {
 public:
  DwarfReader() = default;
  explicit DwarfReader(ByteSpan octets) : octets_(octets) {}

  bool good() const { return good_; }
  bool at_end() const { return !good_ || at_ == octets_.size(); }
  std::size_t at() const { return at_; }

  // Of 1 to 8 octets.
  std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    if (!has(bytes)) return 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{octets_[at_++]} << 8 * i;
    return value;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  // LEB128 (section 7.6).
  std::uint64_t unsigned_leb() {
    unsigned shift = 0;
    return leb(shift);
  }
  std::int64_t signed_leb() {
    unsigned shift = 0;
    const std::uint64_t value = leb(shift);
    const bool negative = shift != 0 && shift < 64 && (value >> (shift - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << shift : value);
  }
  // Up to a zero octet.
  std::string text() {
    const std::uint8_t *const begin = octets_.begin() + at_, *const end = std::find(begin, octets_.end(), 0);
    if (!good_ || end == octets_.end()) return good_ = false, std::string();
    at_ += static_cast<std::size_t>(end - begin) + 1;
    return std::string(begin, end);
  }
  // The next octets, which it then skips.
  DwarfReader piece(std::uint64_t bytes) {
    if (!has(bytes)) return DwarfReader();
    const DwarfReader next(octets_.subspan(at_, bytes));
    at_ += bytes;
    return next;
  }
  void skip(std::uint64_t bytes) { piece(bytes); }

 private:
  bool has(std::uint64_t bytes) {
    good_ = good_ && bytes <= octets_.size() - at_;
    return good_;
  }
  std::uint64_t leb(unsigned& shift) {
    std::uint64_t value = 0;
    for (std::uint8_t octet = 0x80; (octet & 0x80) != 0 && good_; shift += 7) {
      octet = u8();
      if (shift < 64) value |= std::uint64_t{octet & 0x7fu} << shift;
    }
    return value;
  }

  ByteSpan octets_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace rnic
