#include "model/rnic/fwcpu/rv32/instruction_costs.h"

namespace rnic {
namespace {

unsigned cost_of_32(std::uint32_t word, const Rv32Config& c) {
  const bool m = (word >> 25 & 0x7f) == 1;
  switch (word & 0x7f) {
    case 0x03:
      return c.load_cycles;
    case 0x23:
      return c.store_cycles;
    case 0x63:
      return c.branch_cycles;
    case 0x67:
    case 0x6f:
      return c.jump_cycles;
    case 0x73:
      return c.system_cycles;
    case 0x33:
      if (m) return (word >> 14 & 1) != 0 ? c.divide_cycles : c.multiply_cycles;
      return c.alu_cycles;
    default:
      return c.alu_cycles;
  }
}

// Quadrant and funct3; in quadrant 2, C.JR and C.JALR have no second source register.
unsigned cost_of_16(std::uint16_t half, const Rv32Config& c) {
  switch ((half & 3) << 3 | half >> 13) {
    case 0x02:  // C.LW
    case 0x12:  // C.LWSP
      return c.load_cycles;
    case 0x06:  // C.SW
    case 0x16:  // C.SWSP
      return c.store_cycles;
    case 0x09:  // C.JAL
    case 0x0d:  // C.J
      return c.jump_cycles;
    case 0x0e:  // C.BEQZ
    case 0x0f:  // C.BNEZ
      return c.branch_cycles;
    case 0x14:
      return (half >> 2 & 0x1f) == 0 ? c.jump_cycles : c.alu_cycles;
    default:
      return c.alu_cycles;
  }
}

}  // namespace

BlockCost cost_of(ByteSpan code, const Rv32Config& costs) {
  BlockCost sum;
  for (std::size_t at = 0; at + 2 <= code.size(); ++sum.instructions) {
    const std::uint16_t half = load_le16(code.data() + at);
    const bool full = (half & 3) == 3;
    if (full && at + 4 > code.size()) break;
    sum.cycles += full ? cost_of_32(load_le32(code.data() + at), costs) : cost_of_16(half, costs);
    sum.branches = full ? (half & 0x7f) == 0x63 : (half & 0xc003) == 0xc001;
    at += full ? 4 : 2;
  }
  return sum;
}

}  // namespace rnic
