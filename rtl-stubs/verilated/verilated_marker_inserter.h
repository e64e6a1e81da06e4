// marker_inserter as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/marker_inserter_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vmarker_inserter.h"

namespace rnic::rtl {

using MarkerInserterPins = MarkerInserterPinsOf<Vmarker_inserter>;

}  // namespace rnic::rtl
