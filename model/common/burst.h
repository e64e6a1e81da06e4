// The shape of most stages that run ahead: one input, one output.
#pragma once

#include <algorithm>

#include "model/common/link.h"

namespace rnic {

// A stage with one input and one output, which takes a beat in every cycle in which it can: f(beat) for each, in its
// order, and on it goes. `next` is the stage's first cycle for another beat; the result is what its tick() answers.
template <class T, class F>
Wake for_each_beat(Link<T>& in, Link<T>& out, Cycle& next, Cycle horizon, F f) {
  BurstIn from(in);
  BurstOut to(out);
  Cycle at;
  for (; (at = std::max({from.front_at(), to.credit_at(), next})) <= horizon; next = at + 1) {
    f(from.front());
    to.push(from.front(), at);
    from.drop(at);
  }
  return Wake::at_cycle(at);
}

}  // namespace rnic
