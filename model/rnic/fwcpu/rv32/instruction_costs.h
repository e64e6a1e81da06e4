// The cost of straight-line RV32IMC code (RISC-V unprivileged architecture, chapters 2, 7 and 16).
#pragma once

#include <cstdint>

#include "model/common/bytes.h"
#include "model/rnic/fwcpu/rv32/rv32_config.h"

namespace rnic {

struct BlockCost {
  std::uint32_t instructions = 0, cycles = 0;
  bool branches = false;  // ends in a conditional branch
};

// Of whole instructions, the last of which may be a jump; a branch counts as not taken.
BlockCost cost_of(ByteSpan code, const Rv32Config& costs);

}  // namespace rnic
