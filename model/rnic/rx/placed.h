// What ddp_placement tells rdmap_dispatch about a segment that was validated and placed.
#pragma once

#include <cstdint>

#include "model/common/ids.h"
#include "model/rnic/context/failed_segment.h"
#include "model/rnic/host_abi.h"
#include "model/wire/rdmap.h"

namespace rnic {

// Or about the end of a stream, behind its last segment.
struct PlacedSegment {
  Qpn qpn;
  wire::Opcode opcode = wire::Opcode::kSend;
  bool last = false;           // of its message
  bool flushed = false;        // no segment: a receive request that the end of the stream left unused
  bool absorbed = false;       // a ready-to-receive Send: no receive request, no completion
  bool awaits_write = false;   // delivery waits for one DmaWriteDone
  std::uint32_t bytes = 0;     // of the whole message on its last segment
  std::uint64_t wr_id = 0;     // of the receive work request a Send has filled
  std::uint32_t stag = 0;      // Send with Invalidate: the STag to invalidate
  wire::ReadRequest read;      // of a Read Request
  wire::TerminateCause cause;  // of a Terminate
  FailedSegment headers;       // of a request or a response: its own; of a Terminate: those that the peer returns
  bool malformed = false;      // a Terminate, but not as it should be
  bool ended = false;          // no segment: the peer's FIN on `flow`,
  bool in_order = false;       // behind a whole FPDU of a stream without an error, which is the QP's
  FlowId flow;

  // Of the messages of RFC 7306. Immediate Data uses a receive work request too.
  wire::AtomicRequest atomic;
  wire::AtomicResponse atomic_response;
  wire::ImmediateData immediate;
};

}  // namespace rnic
