// Stages that move beats of future cycles.
#pragma once

#include "model/common/cycle.h"

namespace rnic {

class LinkBase;

// A stage that moves beats of future cycles, as far as its links know them, instead of being called in each cycle. See
// clock_domain.md.
class RunsAhead {
 public:
  struct Pledge {
    unsigned beats = 0;
    Cycle from = 0;
  };
  static constexpr unsigned kAnyNumber = 1u << 16;

  // Called by the producer of one of its links, in a cycle in which the stage may or may not have been called already.
  virtual void run_ahead() = 0;
  // How many beats of a run that begins with `first`, as the link carries it, the stage takes as soon as they come,
  // whatever happens: visible in cycle `at` or later, and taken one per cycle, the first one not before `from`. The
  // answer changes nothing. Not asked while beats wait on the link.
  virtual Pledge pledge(const LinkBase&, const void* /*first*/, Cycle /*at*/) { return {}; }

 protected:
  ~RunsAhead() = default;
};

}  // namespace rnic
