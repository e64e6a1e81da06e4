// One timer per flow, exact to the cycle. Restarting one costs a store; a flow whose timer is off costs nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "model/common/cycle.h"
#include "model/common/ids.h"

namespace rnic::llp {

// A heap of the cycles at which to look at a flow. Postponing or stopping a timer leaves its entry in the heap: when
// its cycle comes, the flow's deadline decides whether it fires, goes back into the heap, or is dropped.
class FlowTimers {
 public:
  explicit FlowTimers(std::size_t flows) : timers_(flows) { heap_.reserve(flows); }

  void start(FlowId flow, Cycle at) {
    Timer& t = timers_[flow.v];
    t.deadline = at;
    if (at < t.looked_at) enter(flow, at);
  }
  void stop(FlowId flow) { timers_[flow.v].deadline = kNever; }
  bool running(FlowId flow) const { return timers_[flow.v].deadline != kNever; }

  // The next flow whose timer has expired; kNoFlow when there is none left in this cycle.
  FlowId expired(Cycle now) {
    while (!heap_.empty() && heap_.front().at <= now) {
      const Entry entry = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      Timer& t = timers_[entry.flow.v];
      if (t.looked_at != entry.at) continue;  // an earlier entry replaced it
      t.looked_at = kNever;
      if (t.deadline <= now) {
        t.deadline = kNever;
        return entry.flow;
      }
      if (t.deadline != kNever) enter(entry.flow, t.deadline);
    }
    return kNoFlow;
  }
  // When to ask again; kNever if no timer runs.
  Cycle next() const { return heap_.empty() ? kNever : heap_.front().at; }

 private:
  struct Timer {
    Cycle deadline = kNever;
    Cycle looked_at = kNever;  // of the flow's valid entry in the heap
  };
  struct Entry {
    Cycle at;
    FlowId flow;
    bool operator>(const Entry& o) const { return at != o.at ? at > o.at : o.flow < flow; }
  };
  void enter(FlowId flow, Cycle at) {
    timers_[flow.v].looked_at = at;
    heap_.push_back({at, flow});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<Timer> timers_;
  std::vector<Entry> heap_;
};

}  // namespace rnic::llp
