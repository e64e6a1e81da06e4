// Changes the value of a bit field in network order.
#pragma once

#include <cstdint>
#include <utility>

#include "model/cable/inject/injection.h"

namespace rnic::inject {

// The field, or the octet as a field.
inline Field field_of(const Change& change) {
  return change.field ? *change.field : Field{"octet", 8 * std::size_t{change.octet.value_or(0)}, 8};
}

struct ChangedValue {
  std::uint64_t before = 0, after = 0;
};

// octet_at(n) is octet n in the field's numbering.
template <class OctetAt>
ChangedValue change_bits(const Change& change, const Field& field, OctetAt&& octet_at) {
  const auto bit_at = [&](unsigned b) -> std::pair<std::uint8_t&, std::uint8_t> {
    const std::size_t bit = field.bit + b;
    return {octet_at(bit / 8), static_cast<std::uint8_t>(0x80 >> bit % 8)};
  };
  std::uint64_t old = 0;
  for (unsigned b = 0; b < field.bits; ++b) {
    const auto [octet, mask] = bit_at(b);
    old = old << 1 | ((octet & mask) != 0);
  }
  const std::uint64_t value = change.relative ? old + change.value : change.value;
  for (unsigned b = 0; b < field.bits; ++b) {
    const auto [octet, mask] = bit_at(b);
    const bool one = value >> (field.bits - 1 - b) & 1;
    octet = static_cast<std::uint8_t>(one ? octet | mask : octet & ~mask);
  }
  const std::uint64_t in_field = field.bits < 64 ? value & ((std::uint64_t{1} << field.bits) - 1) : value;
  return {old, in_field};
}

}  // namespace rnic::inject
