// Verilator's headers see that SystemC is there and then expect its names in the global namespace.
#pragma once

#include <systemc>

using sc_core::sc_time_stamp;

#include <verilated.h>
