// What was sent again, and what became of the first transmission (rules R13 and R14 of why.md).
#pragma once

#include "model/why/rows.h"

namespace rnic::why {

struct Repair {
  EventRow again;             // its retransmission: `words` is what caused it
  std::uint64_t sent_ps = 0;  // the first transmission arrived then, or would have
  Cause cause;
  std::vector<Step> chain;
};

// What the cable, or an entry of `inject`, did to a frame: the kind and the words of its event.
Cause by_cable(const std::string& kind, const std::string& words, std::uint64_t frame);
// The same of `frames.swallowed`: "lost: frame 100, loss".
Cause by_cable_of(const std::string& swallowed, std::uint64_t frame);

// Of a retransmission of a request's octets.
Repair repair_of(const Rows& rows, const EventRow& again);

}  // namespace rnic::why
