// terminate_generator as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/terminate_generator_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vterminate_generator.h"

namespace rnic::rtl {

using TerminateGeneratorPins = TerminateGeneratorPinsOf<Vterminate_generator>;

}  // namespace rnic::rtl
