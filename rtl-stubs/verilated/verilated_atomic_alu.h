// atomic_alu as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/atomic_alu_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vatomic_alu.h"

namespace rnic::rtl {

using AtomicAluPins = AtomicAluPinsOf<Vatomic_alu>;

}  // namespace rnic::rtl
