#include "model/rnic/fwcpu/rv32/memory_access.h"

namespace rnic {
namespace {

using XRegisters = std::array<std::uint32_t, 32>;

std::uint32_t bits(std::uint32_t word, unsigned from, unsigned count) { return word >> from & ((1u << count) - 1); }

std::optional<std::uint32_t> access_of_32(std::uint32_t word, const XRegisters& x) {
  const std::uint32_t base = x[bits(word, 15, 5)], opcode = word & 0x7f;
  const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(word) >> 31) << 11;
  if (opcode == 0x03) return base + (sign | bits(word, 20, 11));
  if (opcode == 0x23) return base + (sign | bits(word, 25, 6) << 5 | bits(word, 7, 5));
  return std::nullopt;
}

// Quadrant and funct3.
std::optional<std::uint32_t> access_of_16(std::uint32_t half, const XRegisters& x) {
  switch ((half & 3) << 3 | half >> 13) {
    case 0x02:  // C.LW
    case 0x06:  // C.SW
      return x[8 + bits(half, 7, 3)] + (bits(half, 10, 3) << 3 | bits(half, 6, 1) << 2 | bits(half, 5, 1) << 6);
    case 0x12:  // C.LWSP
      return x[2] + (bits(half, 12, 1) << 5 | bits(half, 4, 3) << 2 | bits(half, 2, 2) << 6);
    case 0x16:  // C.SWSP
      return x[2] + (bits(half, 9, 4) << 2 | bits(half, 7, 2) << 6);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> find_access(ByteSpan code, const XRegisters& registers, std::uint32_t address) {
  for (std::uint32_t at = 0; at + 2 <= code.size();) {
    const std::uint32_t half = load_le16(code.data() + at);
    const bool full = (half & 3) == 3;
    if (full && at + 4 > code.size()) break;
    if ((full ? access_of_32(load_le32(code.data() + at), registers) : access_of_16(half, registers)) == address) {
      return at;
    }
    at += full ? 4 : 2;
  }
  return std::nullopt;
}

}  // namespace rnic
