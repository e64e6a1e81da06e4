// What ddp_placement reports to rdmap_dispatch about a segment that was validated and placed.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/rnic/messages/failed_segment.h"
#include "model/rnic/messages/parts.h"
#include "model/wire/rdmap.h"

namespace rnic {

// Or about the end of a stream, after its last segment.
struct PlacedSegment {
  Qpn qpn;
  wire::Opcode opcode = wire::Opcode::kSend;
  bool last = false;           // of its message
  bool flushed = false;        // no segment: a receive request that the end of the stream left unused
  bool absorbed = false;       // a ready-to-receive Send: no receive request, no completion
  bool awaits_write = false;   // delivery waits for one DmaWriteDone
  bool opens = false;          // the first one of its stream, unless it is a Terminate
  std::uint32_t bytes = 0;     // of the whole message on its last segment
  std::uint16_t octets = 0;    // of this segment's payload: of a tagged one, or of a Send
  std::uint64_t wr_id = 0;     // of the receive work request a Send has filled
  std::uint32_t stag = 0;      // Send with Invalidate: the STag to invalidate
  wire::ReadRequest read;      // of a Read Request
  wire::TerminateCause cause;  // of a Terminate
  FailedSegment headers;       // of a request or a response: its own; of a Terminate: those that the peer returns
  bool malformed = false;      // a Terminate, but an invalid one
  bool ended = false;          // no segment: the peer's FIN on `flow`, or with this `llp` its session Terminate,
  bool in_order = false;       // after a whole FPDU of a stream without an error, which is the QP's
  FlowId flow;
  LlpId llp = LlpId::kMpaTcp;
  RequestId owner;          // on no pins
  std::uint32_t epoch = 0;  // the use of the queue pair's number that it is of
  Pdn pd;                   // the queue pair's
  Cqn recv_cq;              // the queue pair's, also of a request that is left unused

  // Of the messages of RFC 7306. Immediate Data uses a receive work request too.
  wire::AtomicRequest atomic;
  wire::AtomicResponse atomic_response;
  wire::ImmediateData immediate;

  static constexpr const char* kMessage = "placed_segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("opcode", 4, m.opcode);
    v("last", 1, m.last);
    v("flushed", 1, m.flushed);
    v("absorbed", 1, m.absorbed);
    v("awaits_write", 1, m.awaits_write);
    v("opens", 1, m.opens);
    v("malformed", 1, m.malformed);
    v("ended", 1, m.ended);
    v("in_order", 1, m.in_order);
    v("flow", m.flow);
    v("llp", 1, m.llp);
    v("bytes", 32, m.bytes);
    v("octets", 16, m.octets);
    v("wr_id", 64, m.wr_id);
    v("stag", 32, m.stag);
    v("read", m.read);
    v("cause", m.cause);
    v("headers", m.headers);
    v("atomic", m.atomic);
    v("atomic_response", m.atomic_response);
    v("immediate", m.immediate);
    v("epoch", 32, m.epoch);
    v("pd", m.pd);
    v("recv_cq", m.recv_cq);
  }
};
inline EventUse event_of(const PlacedSegment& s, const Owners&, TraceEvent& e) {
  if (s.ended || s.flushed) return EventUse::kNone;
  e.qpn = s.qpn.v;
  e.bytes = s.octets;
  e.request = s.owner;
  return EventUse::kEvent;
}

}  // namespace rnic
