// The owner of a message: what the parts of a device know about the requests in its queues.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/ids.h"
#include "model/common/request_id.h"

namespace rnic {

// Ids of requests, in the present life of their queues. The driver passes a work request's place in the queue as wr_id.
class Owners {
 public:
  virtual bool has(Qpn qpn) const = 0;
  virtual RequestId request(Qpn qpn, std::uint64_t wr_id) const = 0;
  virtual RequestId request(Rqn rqn, std::uint64_t wr_id) const = 0;
  // The receive request of a completion of this queue pair, whose queue may be shared.
  virtual RequestId receive_request(Qpn qpn, std::uint64_t wr_id) const = 0;
  virtual RequestId queue_pair(Qpn qpn) const = 0;
  // The queue pair that a flow carries; none if the two do not belong to each other (any more).
  virtual std::optional<Qpn> qp_of(FlowId flow) const = 0;

 protected:
  ~Owners() = default;
};

}  // namespace rnic
