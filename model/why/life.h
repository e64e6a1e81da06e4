// When a request came where.
#pragma once

#include <cstdint>
#include <string>

#include "model/why/rows.h"

namespace rnic::why {

// Its stations, in the order of time; one that is not recorded is at the time of the one before.
struct Life {
  RequestRow row;
  std::string queue, pair, node, operation;  // "a.0#1", "a.0", "a"
  std::uint64_t fetched_ps = 0, turn_ps = 0, first_cut_ps = 0, last_cut_ps = 0, done_ps = 0;
  std::uint64_t bytes = 0;  // that its completion tells
};

}  // namespace rnic::why
