// Read Requests on their way through the responder.
#pragma once

#include "model/common/ids.h"
#include "model/rnic/context/failed_segment.h"
#include "model/wire/rdmap.h"

namespace rnic {

// A Read Request that was delivered in order (RFC 5040 section 5.2).
struct QueuedRead {
  Qpn qpn;
  wire::ReadRequest request;
  FailedSegment segment = {};  // its headers as they came, if it has to be refused
};

// A validated Read Request, to be answered with a Read Response.
struct ReadWork {
  Qpn qpn;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
  std::uint64_t source = 0;  // bus address
  std::uint32_t bytes = 0;
};
// Its last FPDU was handed on: the IRRQ slot is free (wire-facts 8.51).
struct ReadResponseSent {
  Qpn qpn;
};

}  // namespace rnic
