// Verilator's headers detect SystemC and then expect its names in the global namespace.
#pragma once

#include <systemc>

using sc_core::sc_time_stamp;

#include <verilated.h>
