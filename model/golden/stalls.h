// The cycles in which an output of a device had no room: they do not count for what the device has to give.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "model/common/cycle.h"

namespace rnic::golden {

// A stage with one output that has no room may be unable to give anything at the others, so it does not matter which
// one it was.
class Stalls {
 public:
  // Ranges may overlap.
  void add(Cycle from, Cycle to) {
    auto at = std::find_if(ranges_.begin(), ranges_.end(), [from](const Range& range) { return range.to >= from; });
    while (at != ranges_.end() && at->from <= to) {
      from = std::min(from, at->from);
      to = std::max(to, at->to);
      at = ranges_.erase(at);
    }
    if (from < to) ranges_.insert(at, {from, to});
  }
  // Cycles without room from then on.
  Cycle since(Cycle from) const {
    Cycle sum = 0;
    for (const Range& range : ranges_) sum += range.to - std::min(range.to, std::max(range.from, from));
    return sum;
  }
  bool empty() const { return ranges_.empty(); }
  // Nobody will ask for what was before.
  void forget_before(Cycle cycle) {
    while (!ranges_.empty() && ranges_.front().to <= cycle) ranges_.pop_front();
  }

 private:
  struct Range {
    Cycle from, to;  // `to` is not one of them
  };
  std::deque<Range> ranges_;  // apart, in their order
};

}  // namespace rnic::golden
