// Where a part records events that are no messages. Free without a listener.
#pragma once

#include "model/common/trace_event.h"

namespace rnic {

class TracePointTap {
 public:
  // Without cycle and place, which the listener knows.
  virtual void happened(TraceEvent event) = 0;

 protected:
  ~TracePointTap() = default;
};

// A part's side.
class TracePoint {
 public:
  void tap(TracePointTap& tap) { tap_ = &tap; }
  bool on() const { return tap_ != nullptr; }
  // Only if it is on, so that nobody else makes events.
  void operator()(const TraceEvent& event) const { tap_->happened(event); }

 private:
  TracePointTap* tap_ = nullptr;
};

}  // namespace rnic
