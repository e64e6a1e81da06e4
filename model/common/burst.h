// Moves of many cycles in one call, for a stage that runs ahead (clock_domain.md).
#pragma once

#include <algorithm>

#include "model/common/link.h"

namespace rnic {

// The producer's end. The consumer runs when the credits are used up, and at the end.
template <class T>
class Burst final {
 public:
  explicit Burst(Link<T>& link) : link_(link), ahead_(link.ahead()) { link.check_none_reserved(); }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;
  ~Burst() noexcept(false) {
    if (link_.used_ == 0 || !ahead_) return;
    link_.advance_consumer();
    if (const Cycle at = link_.front_at(); at != kNever && at > link_.clk_.now()) link_.consumer_->wake(at);
  }

  Cycle credit_at() { return link_.credit_at(); }
  // How many beats of a run that begins with `first` can leave from cycle `at` on, one per cycle: of `wanted`, up to
  // the horizon. credit_at() is not later than that.
  unsigned room(const T& first, Cycle at, unsigned wanted, Cycle horizon) {
    if constexpr (!kInRuns<T>) return 1;
    if (wanted > horizon - at) wanted = static_cast<unsigned>(horizon - at + 1);
    if (wanted == 1) return 1;
    const unsigned known = link_.credits_.in_row(at);
    if (known >= wanted) return wanted;
    if (pledged_ == 0 || link_.slots_taken() >= Link<T>::kPledgedRuns) pledged_ = link_.pledge(first, at);
    return std::min(wanted, std::max(link_.credits_.in_row(at), pledged_));
  }
  void push(const T& beat, Cycle at) {
    pledged_ = 0;
    link_.push_as(beat, at);
    if (!ahead_) link_.wake_consumer(at, 1);
  }
  // As many as there is room for.
  void push(const T& first, Cycle at, unsigned beats) {
    if constexpr (kInRuns<T>) {
      if (beats != 1 || (pledged_ != 0 && !first.last)) return push_run(first, at, beats);
    }
    push(first, at);
  }

 private:
  void push_run(const T& first, Cycle at, unsigned beats) {
    const bool pledged = pledged_ >= beats && link_.slots_taken() < Link<T>::kPledgedRuns;
    pledged_ = pledged ? pledged_ - beats : 0;
    link_.push_run(first, at, beats, pledged);
    if (!ahead_) link_.wake_consumer(at, beats);
  }

  Link<T>& link_;
  const bool ahead_;
  unsigned pledged_ = 0;  // that many of the next beats the consumer takes as they come
};

// Takes the beats of a message except its last one, one per cycle: f(first, beats) for each run. The consumer never
// refuses them, so it may pledge to take any number of them.
template <class T, class F>
void collect_beats(Link<T>& in, Cycle& next, Cycle until, F f) {
  for (Cycle at; (at = std::max(in.front_at(), next)) <= until && !in.front().last;) {
    const unsigned beats = until - at < in.front_run() ? static_cast<unsigned>(until - at + 1) : in.front_run();
    f(in.front(), beats);
    in.drop_at(at, beats);
    next = at + beats;
  }
}

// A stage with one input and one output that takes a beat in every cycle in which it can: f(beat) for each, in order,
// and passes it on. Only the first beat of a run is passed to f; the others are like it. `next` is the stage's first
// cycle for another beat; the result is what its tick() returns.
template <class T, class F>
Wake for_each_beat(Link<T>& in, Link<T>& out, Cycle& next, Cycle horizon, F f) {
  Burst to(out);
  Cycle at;
  while ((at = std::max({in.front_at(), to.credit_at(), next})) <= horizon) {
    const unsigned beats = to.room(in.front(), at, in.front_run(), horizon);
    f(in.front());
    to.push(in.front(), at, beats);
    in.drop_at(at, beats);
    next = at + beats;
  }
  return Wake::at_cycle(at);
}

// The pledge of such a stage.
template <class T>
RunsAhead::Pledge pledge_to_pass(Link<T>& out, Cycle next, const void* first, Cycle at) {
  const Cycle from = std::max(next, at);
  return {out.room(*static_cast<const T*>(first), from), from};
}

}  // namespace rnic
