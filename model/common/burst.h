// Moves of many cycles in one call: the producer's end of a link, for a stage that runs ahead (clock_domain.md).
#pragma once

#include <algorithm>

#include "model/common/link.h"

namespace rnic {

// The consumer runs when the credits are used up, and in finish(), which is the producer's last call.
template <class T>
class Burst final {
 public:
  explicit Burst(Link<T>& link) : link_(link), ahead_(link.ahead()) { link.check_none_reserved(); }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  Cycle credit_at() { return link_.credit_at(); }
  // How many beats of a run that begins with `first` can leave from cycle `at` on, one per cycle: of `wanted`, up to
  // the horizon. credit_at() is not later than that.
  unsigned room(const T& first, Cycle at, unsigned wanted, Cycle horizon) {
    if constexpr (!kInRuns<T>) return 1;
    if (wanted > horizon - at) wanted = static_cast<unsigned>(horizon - at + 1);
    if (wanted == 1) return 1;
    const unsigned known = link_.credits_.in_row(at);
    if (known >= wanted) return wanted;
    if (accepted_ == 0 || link_.slots_taken() >= Link<T>::kAcceptedRuns) accepted_ = link_.accepted(first, at);
    return std::min(wanted, std::max(link_.credits_.in_row(at), accepted_));
  }
  void push(const T& beat, Cycle at) {
    accepted_ = 0;
    link_.push_as(beat, at);
    if (!ahead_) link_.wake_consumer(at, 1);
  }
  // As many as there is room for.
  void push(const T& first, Cycle at, unsigned beats) {
    if constexpr (kInRuns<T>) {
      if (beats != 1 || (accepted_ != 0 && !first.last)) return push_run(first, at, beats);
    }
    push(first, at);
  }
  void finish() {
    if (link_.used_ == 0 || !ahead_) return;
    link_.advance_consumer();
    if (const Cycle at = link_.front_at(); at != kNever && at > link_.clk_.now()) link_.consumer_->wake(at);
  }

 private:
  void push_run(const T& first, Cycle at, unsigned beats) {
    const bool accepted = accepted_ >= beats && link_.slots_taken() < Link<T>::kAcceptedRuns;
    accepted_ = accepted ? accepted_ - beats : 0;
    link_.push_run(first, at, beats, accepted);
    if (!ahead_) link_.wake_consumer(at, beats);
  }

  Link<T>& link_;
  const bool ahead_;
  unsigned accepted_ = 0;  // that many of the next beats the consumer takes as they come
};

}  // namespace rnic
