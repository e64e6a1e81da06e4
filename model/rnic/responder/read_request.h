// Read and Atomic Requests on their way through the responder, and Atomic Responses on their way back.
#pragma once

#include <variant>

#include "model/common/ids.h"
#include "model/rnic/context/failed_segment.h"
#include "model/rnic/context/memory_piece.h"
#include "model/wire/rdmap.h"

namespace rnic {

// A Read Request that was delivered in order (RFC 5040 section 5.2).
struct QueuedRead {
  Qpn qpn;
  wire::ReadRequest request;
  FailedSegment segment = {};  // its headers as they came, if it has to be refused
};

// An Atomic Request that was delivered in order (RFC 7306 section 5.2).
struct QueuedAtomic {
  Qpn qpn;
  wire::AtomicRequest request;
  FailedSegment segment = {};
};

// Both kinds share the queue number 1, its order and the limit of IRD (RFC 7306 section 5.2).
using QueuedRequest = std::variant<QueuedRead, QueuedAtomic>;
inline Qpn qpn_of(const QueuedRequest& r) {
  return std::visit([](const auto& request) { return request.qpn; }, r);
}
inline const FailedSegment& segment_of(const QueuedRequest& r) {
  return std::visit([](const auto& request) -> const FailedSegment& { return request.segment; }, r);
}

// A validated Read Request, to be answered with a Read Response.
struct ReadWork {
  Qpn qpn;
  wire::ReadRequest request;
  FailedSegment segment = {};  // its headers as they came, if its source is revoked before all is sent
};
// An atomic that was executed and whose result is in memory, to be answered with an Atomic Response.
struct AtomicWork {
  Qpn qpn;
  wire::AtomicResponse response;
};
// The last FPDU of a response was handed on: the IRRQ slot is free (wire-facts 8.51).
struct ReadResponseSent {
  Qpn qpn;
};

// An Atomic Response to a request of ours, delivered in order.
struct DeliveredAtomic {
  Qpn qpn;
  wire::AtomicResponse response;
  FailedSegment segment = {};
};

}  // namespace rnic
