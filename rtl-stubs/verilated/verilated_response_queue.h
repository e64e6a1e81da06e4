// response_queue as Verilator's class.
#pragma once

#include "rtl-stubs/verilated/response_queue_pins.h"
#include "rtl-stubs/verilated/verilated_block.h"

#include "Vresponse_queue.h"

namespace rnic::rtl {

using ResponseQueuePins = ResponseQueuePinsOf<Vresponse_queue>;

}  // namespace rnic::rtl
