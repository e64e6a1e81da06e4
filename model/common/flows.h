// The state of flows and queue pairs at one moment, for series of figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/common/ids.h"

namespace rnic {

// The octets that a flow has in flight, and its limit.
struct FlowState {
  bool open = false;
  std::uint32_t snd_una = 0, unacknowledged = 0, congestion_window = 0, peer_window = 0;
  bool repairing = false;
};
class Flows {
 public:
  virtual std::size_t flows() const = 0;
  virtual FlowState flow_state(FlowId flow) const = 0;

 protected:
  ~Flows() = default;
};

// Of a queue pair: work requests on chip, and requests that its peer has not answered.
struct QueuePairState {
  std::uint32_t wqes = 0, reads = 0;
};
class QueuePairs {
 public:
  virtual std::uint32_t queue_pairs() const = 0;  // numbers below
  virtual QueuePairState queue_pair_state(Qpn qpn) const = 0;

 protected:
  ~QueuePairs() = default;
};

}  // namespace rnic
