// Consumers that take beats of future cycles.
#pragma once

#include "model/common/cycle.h"

namespace rnic {

// Beats of a run that a consumer takes as soon as they come: so many, one per cycle, the first one not before `from`.
struct Acceptance {
  static constexpr unsigned kAll = 1u << 16;
  unsigned beats = 0;
  Cycle from = 0;
};

// A link's consumer that moves beats of future cycles, as far as its links know them, instead of being called in each
// cycle (clock_domain.md). It says so at its port: PopPort::ahead().
template <class T>
class TakesAhead {
 public:
  // Takes what it can. Called by the producer, in a cycle in which the stage may or may not have been called already.
  virtual void take_ahead() = 0;
  // What it takes, whatever happens, of a run that begins with `first` and is visible from cycle `at` on or later. The
  // answer changes nothing. Not asked while beats wait on the link.
  virtual Acceptance accepts(const T& first, Cycle at) = 0;

 protected:
  ~TakesAhead() = default;
};

}  // namespace rnic
