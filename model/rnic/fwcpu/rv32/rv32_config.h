// The RV32 processor: the cost of its instructions.
#pragma once

#include <cstdint>

#include "model/config/field.h"

namespace rnic {

// A single-issue core with a short pipeline and tightly coupled memories. Costs in firmware cycles.
struct Rv32Config {
  unsigned alu_cycles = 1, load_cycles = 2, store_cycles = 1, multiply_cycles = 3, divide_cycles = 20;
  unsigned jump_cycles = 2, branch_cycles = 1, taken_cycles = 2, system_cycles = 3, csr_access_cycles = 4;
  unsigned trap_cycles = 4;

  template <class V>
  static void fields(V& v) {
    v("alu_cycles", &Rv32Config::alu_cycles, "arithmetic and logic", in_range(1, 100), unit("cycles"));
    v("load_cycles", &Rv32Config::load_cycles, "load", in_range(1, 100), unit("cycles"));
    v("store_cycles", &Rv32Config::store_cycles, "store", in_range(1, 100), unit("cycles"));
    v("multiply_cycles", &Rv32Config::multiply_cycles, "multiplication", in_range(1, 100), unit("cycles"));
    v("divide_cycles", &Rv32Config::divide_cycles, "division and remainder", in_range(1, 100), unit("cycles"));
    v("jump_cycles", &Rv32Config::jump_cycles, "jump, call and return", in_range(1, 100), unit("cycles"));
    v("branch_cycles", &Rv32Config::branch_cycles, "conditional branch", in_range(1, 100), unit("cycles"));
    v("taken_cycles", &Rv32Config::taken_cycles, "added for a taken branch", in_range(0, 100), unit("cycles"));
    v("system_cycles", &Rv32Config::system_cycles, "CSR instruction, mret, wfi", in_range(1, 100), unit("cycles"));
    v("csr_access_cycles", &Rv32Config::csr_access_cycles, "added for a load or store to a register of the chip",
      in_range(0, 1000), unit("cycles"));
    v("trap_cycles", &Rv32Config::trap_cycles, "from an event to the first instruction of the interrupt handler",
      in_range(1, 1000), unit("cycles"));
  }
};

}  // namespace rnic
