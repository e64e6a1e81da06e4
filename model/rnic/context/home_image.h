// How a part of a row is in its home: its fields bit by bit, and a check of them and of their place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/common/message.h"

namespace rnic {

// The octets of a message: its fields one after another, each with its lowest bit first.
class PackFields : public FieldVisitor<PackFields> {
 public:
  PackFields(std::uint8_t* to, unsigned bits) : to_(to), bits_(bits) {}
  template <class T>
  void number(unsigned width, const T& number) {
    const auto value = static_cast<std::uint64_t>(number);
    RNIC_CHECK_MSG(width == 64 || value >> width == 0, "a field is larger than its bits");
    RNIC_CHECK(at_ + width <= bits_);
    for (unsigned i = 0; i < width; ++i, ++at_) to_[at_ / 8] |= static_cast<std::uint8_t>((value >> i & 1) << at_ % 8);
  }

 private:
  std::uint8_t* const to_;
  const unsigned bits_;
  unsigned at_ = 0;
};
class UnpackFields : public FieldVisitor<UnpackFields> {
 public:
  explicit UnpackFields(const std::uint8_t* from) : from_(from) {}
  template <class T>
  void number(unsigned width, T& number) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i, ++at_) value |= std::uint64_t{from_[at_ / 8] >> at_ % 8 & 1u} << i;
    number = static_cast<T>(value);
  }

 private:
  const std::uint8_t* const from_;
  unsigned at_ = 0;
};

// Of `Bytes` octets, the last four of which are the CRC32c of the others and of the part's place in the home. Octets
// that were never written are 0.
template <class Part, std::size_t Bytes>
struct HomeImage {
  static constexpr std::size_t kFields = Bytes - 4;

  // `octet`: its place.
  static void pack(const Part& part, std::uint64_t octet, std::uint8_t* to) {
    std::fill_n(to, Bytes, std::uint8_t{0});
    PackFields fields(to, 8 * kFields);
    visit_fields(fields, part);
    store_le32(to + kFields, check_of(to, octet));
  }
  // Nothing has its default values. False: it is not what was written there.
  static bool unpack(const std::uint8_t* from, std::uint64_t octet, Part& part) {
    part = Part{};
    if (std::all_of(from, from + Bytes, [](std::uint8_t o) { return o == 0; })) return true;
    if (load_le32(from + kFields) != check_of(from, octet)) return false;
    UnpackFields fields(from);
    visit_fields(fields, part);
    return true;
  }

 private:
  static std::uint32_t check_of(const std::uint8_t* fields, std::uint64_t octet) {
    std::array<std::uint8_t, kFields + 8> checked;
    std::copy_n(fields, kFields, checked.begin());
    store_le64(&checked[kFields], octet);
    return crc32c({checked.data(), checked.size()});
  }
};

}  // namespace rnic
