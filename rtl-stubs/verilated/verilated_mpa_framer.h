// mpa_framer as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/mpa_framer_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vmpa_framer.h"

namespace rnic::rtl {

using MpaFramerPins = MpaFramerPinsOf<Vmpa_framer>;

}  // namespace rnic::rtl
