// mpa_deframer as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/mpa_deframer_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vmpa_deframer.h"

namespace rnic::rtl {

using MpaDeframerPins = MpaDeframerPinsOf<Vmpa_deframer>;

}  // namespace rnic::rtl
