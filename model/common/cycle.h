// Integer time inside a clock domain.
#pragma once

#include <cstdint>
#include <limits>

namespace rnic {

// A count of rising edges of one clock since time 0; edge 0 is at time 0.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

}  // namespace rnic
