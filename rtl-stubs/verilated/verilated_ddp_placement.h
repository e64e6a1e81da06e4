// ddp_placement as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/ddp_placement_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vddp_placement.h"

namespace rnic::rtl {

using DdpPlacementPins = DdpPlacementPinsOf<Vddp_placement>;

}  // namespace rnic::rtl
