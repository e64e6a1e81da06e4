// The arithmetic of RFC 7306 section 5.1 on 64-bit numbers in host byte order.
#pragma once

#include <cstdint>

#include "model/wire/rdmap.h"

namespace rnic {

// Each bit of `tops` is the most significant one of a field; no carry leaves a field. Bit 63 always ends one.
constexpr std::uint64_t masked_add(std::uint64_t value, std::uint64_t add, std::uint64_t tops) {
  return ((value & ~tops) + (add & ~tops)) ^ ((value ^ add) & tops);
}

// Whether a CmpSwap matches: the bits of the compare mask.
constexpr bool matches(const wire::AtomicRequest& r, std::uint64_t value) {
  return ((value ^ r.compare) & r.compare_mask) == 0;
}

struct AtomicResult {
  std::uint64_t value;  // afterwards
  bool writes;          // false: memory stays as it is
};
// The opcode is one of the two.
constexpr AtomicResult execute(const wire::AtomicRequest& r, std::uint64_t value) {
  if (r.opcode() == wire::AtomicOpcode::kFetchAdd) return {masked_add(value, r.data, r.data_mask), true};
  if (!matches(r, value)) return {value, false};
  return {(value & ~r.data_mask) | (r.data & r.data_mask), true};
}

}  // namespace rnic
