// irrq as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/irrq_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Virrq.h"

namespace rnic::rtl {

using IrrqPins = IrrqPinsOf<Virrq>;

}  // namespace rnic::rtl
