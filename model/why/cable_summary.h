// What the cable did to frames, counted.
#pragma once

#include <string>
#include <vector>

#include "model/why/rows.h"

namespace rnic::why {

struct CableCount {
  std::string from, to, kind, setting;  // "a", "b", "lost", "link.*.loss"
  std::uint64_t frames = 0;
};

// By direction, kind and setting. Frames that entries of `inject` changed are among them.
std::vector<CableCount> cable_summary(const Rows& rows);

// "cable: a to b: 3 lost (loss), 1 reordered (reorder)"; that it has changed nothing, if it has.
std::string text_of(const std::vector<CableCount>& counts);

}  // namespace rnic::why
