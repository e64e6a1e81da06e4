// Somebody who watches a link without taking part: waveforms, protocol checkers.
#pragma once

#include "model/common/cycle.h"

namespace rnic {

template <class T>
class LinkObserver {
 public:
  // The producer took a credit, and can take the next one from `next_credit` on; kNever means not before another pop.
  virtual void reserved(Cycle now, Cycle next_credit) = 0;
  // The oldest reserved slot got its beat, which the consumer sees from `visible` on, if it has popped all before it.
  virtual void filled(const T& beat, Cycle visible) = 0;
  // The front beat is gone. If the link was full, the producer can take a credit from `credit` on; otherwise it is
  // kNever.
  virtual void popped(Cycle now, Cycle credit) = 0;

 protected:
  ~LinkObserver() = default;
};

}  // namespace rnic
