// One timer per id, exact to the cycle. Restarting one costs a store; one that is off costs nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "model/common/cycle.h"
#include "model/common/ids.h"

namespace rnic::llp {

// A heap of the cycles at which to look at a timer. Postponing or stopping it leaves its entry in the heap: when the
// cycle comes, the deadline decides whether it fires, goes back into the heap, or is dropped.
template <class I>
class IdTimers {
 public:
  static constexpr I kNone{0xffffffffu};
  explicit IdTimers(std::size_t ids) : timers_(ids) { heap_.reserve(ids); }

  void start(I id, Cycle at) {
    Timer& t = timers_[id.v];
    t.deadline = at;
    if (at < t.looked_at) enter(id, at);
  }
  void stop(I id) { timers_[id.v].deadline = kNever; }
  bool running(I id) const { return timers_[id.v].deadline != kNever; }

  // The next one that has expired; kNone when there is none left in this cycle.
  I expired(Cycle now) {
    while (!heap_.empty() && heap_.front().at <= now) {
      const Entry entry = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      Timer& t = timers_[entry.id.v];
      if (t.looked_at != entry.at) continue;  // an earlier entry replaced it
      t.looked_at = kNever;
      if (t.deadline <= now) {
        t.deadline = kNever;
        return entry.id;
      }
      if (t.deadline != kNever) enter(entry.id, t.deadline);
    }
    return kNone;
  }
  // When to ask again; kNever if no timer runs.
  Cycle next() const { return heap_.empty() ? kNever : heap_.front().at; }

 private:
  struct Timer {
    Cycle deadline = kNever;
    Cycle looked_at = kNever;  // of the valid entry in the heap
  };
  struct Entry {
    Cycle at;
    I id;
    bool operator>(const Entry& o) const { return at != o.at ? at > o.at : o.id < id; }
  };
  void enter(I id, Cycle at) {
    timers_[id.v].looked_at = at;
    heap_.push_back({at, id});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<Timer> timers_;
  std::vector<Entry> heap_;
};

using FlowTimers = IdTimers<FlowId>;

}  // namespace rnic::llp
