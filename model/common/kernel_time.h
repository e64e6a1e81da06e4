// Simulated time as the SystemC kernel has it, at its resolution of 1 ps.
#pragma once

#include <cstdint>
#include <systemc>

namespace rnic {

inline std::uint64_t kernel_time_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

}  // namespace rnic
