// A link's credits, the oldest first: when each of its free slots can be taken.
#pragma once

#include <vector>

#include "model/common/check.h"
#include "model/common/cycle.h"

namespace rnic {

// Kept as runs of one credit per cycle. A producer takes no two credits in one cycle, so a credit that is back earlier
// than the run says is never missed.
class Credits {
 public:
  explicit Credits(unsigned depth) : depth_(depth), runs_(depth) { reset(); }

  void reset() {
    head_ = 0;
    used_ = 1;
    runs_[0] = {0, depth_};
  }
  bool empty() const { return used_ == 0; }
  // When the oldest one is back; kNever if none is known.
  Cycle first() const { return used_ == 0 ? kNever : runs_[head_].from; }
  // How many can be taken from cycle `at` on, one per cycle.
  unsigned in_row(Cycle at) const {
    unsigned credits = 0;
    for (unsigned i = 0, run = head_; i < used_ && runs_[run].from <= at + credits; ++i, run = next(run)) {
      credits += runs_[run].count;
    }
    return credits;
  }

  void take(unsigned credits = 1) {
    while (credits >= runs_[head_].count) {
      RNIC_CHECK(used_ != 0);
      credits -= runs_[head_].count;
      head_ = next(head_);
      --used_;
      if (credits == 0) return;
    }
    runs_[head_].from += credits;
    runs_[head_].count -= credits;
  }
  // That many come back from cycle `from` on, one per cycle. `from` never decreases.
  void give(Cycle from, unsigned credits = 1) {
    if (used_ != 0) {
      const unsigned back = head_ + used_ - 1;
      Run& newest = runs_[back < depth_ ? back : back - depth_];
      if (from <= newest.from + newest.count) {
        newest.count += credits;
        return;
      }
    }
    const unsigned free = head_ + used_;
    runs_[free < depth_ ? free : free - depth_] = {from, credits};
    ++used_;
  }
  // All are there; that many are taken, and come back from cycle `from` on, one per cycle.
  void turn(Cycle from, unsigned credits) {
    if (credits < depth_) {
      take(credits);
      return give(from, credits);
    }
    head_ = 0;
    used_ = 1;
    runs_[0] = {from + credits - depth_, depth_};
  }

 private:
  struct Run {
    Cycle from = 0;
    unsigned count = 0;
  };
  unsigned next(unsigned run) const { return run + 1 == depth_ ? 0 : run + 1; }

  const unsigned depth_;
  std::vector<Run> runs_;  // a ring
  unsigned head_ = 0, used_ = 0;
};

}  // namespace rnic
