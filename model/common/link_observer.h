// Observes a link without taking part. A beat is given as a pointer to what the link carries, Link<T>'s T.
#pragma once

#include "model/common/cycle.h"

namespace rnic {

// The beats that pass: trace events.
class LinkTap {
 public:
  // The oldest reserved slot got its beat in cycle `now`, which the consumer sees from `visible` on, if it has popped
  // all before it.
  virtual void filled(const void* beat, Cycle now, Cycle visible) = 0;

 protected:
  ~LinkTap() = default;
};

// Both ends: waveforms, protocol checkers. Each end's moves come in order; if stages run ahead, one end may be ahead of
// the other.
class LinkObserver : public LinkTap {
 public:
  // The producer took a credit, and can take the next one from `next_credit` on; kNever means not before another pop.
  virtual void reserved(Cycle now, Cycle next_credit) = 0;
  // The front beat is gone. If the link was full, the producer can take a credit from `credit` on; otherwise it is
  // kNever.
  virtual void popped(Cycle now, Cycle credit) = 0;
  // All beats are gone, and all credits are back, from the cycle after `now` on.
  virtual void emptied(Cycle now) = 0;

 protected:
  ~LinkObserver() = default;
};

}  // namespace rnic
