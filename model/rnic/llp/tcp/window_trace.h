// What bounds a flow's sender, and what reduced its congestion window, for observers. Free without a listener.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/trace_point.h"
#include "model/rnic/llp/tcp/sender.h"

namespace rnic::tcp {

class WindowTrace {
 public:
  TracePoint point;

  bool on() const { return point.on(); }
  // After a use of a flow's row: records what that has changed. `idle`: its window fell as nothing was sent for an RTO.
  void look(FlowId flow, Qpn qpn, const Sender& sender, bool idle);
  // The flow ends, or its row is lost.
  void forget(FlowId flow) {
    if (flow.v < known_.size()) known_[flow.v] = {};
  }
  void reset() { known_.clear(); }

 private:
  // The smaller window of the two, and whether it is used up.
  enum class Bound : std::uint8_t { kUnknown, kPeer, kPeerUsedUp, kCongestion, kCongestionUsedUp };
  struct Known {
    Bound bound = Bound::kUnknown;
    bool recovers_fast = false;
    std::uint32_t cwnd = 0;
  };
  static Bound bound_of(const Sender& sender);
  static const char* why_reduced(const Known& before, const Sender& sender, bool idle);
  void record(TraceKind kind, FlowId flow, Qpn qpn, const char* text, std::array<std::uint32_t, 3> values) const;

  std::vector<Known> known_;  // of each flow that was seen, while there is a listener
};

}  // namespace rnic::tcp
