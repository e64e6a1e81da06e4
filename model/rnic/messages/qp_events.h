// What the datapath reports to the firmware about a queue pair, and the opposite direction.
#pragma once

#include <cstdint>

#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/failed_segment.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

struct QpEvent {
  enum class Kind : std::uint8_t {
    kFirstFpdu,          // the responder's fence is lifted (RFC 5044 section 7.1.2 rule 4)
    kTerminateReceived,  // cause and failed: the peer's report
    kStreamError,        // cause and failed: ours to report; nothing more of this stream is delivered
    kLocalError,         // a work request failed locally; it and all later ones complete with an error
    kSendDrained,        // answers TxInternalWork::kDrain
    kPeerClosed          // everything before the peer's FIN is delivered
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"first_fpdu",  "terminate_received", "stream_error",
                                   "local_error", "send_drained",       "peer_closed"};
    return kWords;
  }
  Kind kind = Kind::kFirstFpdu;
  Qpn qpn;
  wire::TerminateCause cause;
  FailedSegment failed = {};  // kStreamError, kTerminateReceived
  bool malformed = false;     // kTerminateReceived: not a valid Terminate

  static constexpr const char* kMessage = "qp_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("qpn", m.qpn);
    v("cause", m.cause);
    v("failed", m.failed);
    v("malformed", 1, m.malformed);
  }
};
inline EventUse event_of(const QpEvent& event, const Owners& owners, TraceEvent& e) {
  const bool received = event.kind == QpEvent::Kind::kTerminateReceived;
  const bool found = event.kind == QpEvent::Kind::kStreamError || event.kind == QpEvent::Kind::kLocalError;
  if (e.kind == TraceKind::kRefused ? !found : !received) return EventUse::kNone;
  e.qpn = event.qpn.v;
  e.request = found && !event.failed.owner ? owners.queue_pair(event.qpn) : event.failed.owner;
  e.facts = {terminate_word(event.cause), event.malformed ? TraceEvent::kMalformed : TraceEvent::kReceived};
  return EventUse::kEvent;
}

// Events of the receive side that matter to the transmit side.
struct TxUnblock {
  enum class Kind : std::uint8_t {
    kFirstFpdu,   // a responder may send now (RFC 5044 section 7.1.2 rule 4)
    kReadDone,    // a Read of ours is complete: one fewer is outstanding against ORD
    kRequest,     // a Read or Atomic Request of the peer: a response is due
    kPeerClosed,  // no more requests and responses will come
    kSinkEnded    // the STag of the sink of a Read with Invalidate has ended
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"first_fpdu", "read_done", "request", "peer_closed", "sink_ended"};
    return kWords;
  }
  Kind kind = Kind::kFirstFpdu;
  Qpn qpn;
  std::uint32_t epoch = 0;  // the use of its number

  static constexpr const char* kMessage = "tx_unblock";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

// A Read Request leaves: the receive side expects a Read Response that fills this sink, after those of earlier ones.
struct ReadIssued {
  Qpn qpn;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
  std::uint32_t bytes = 0;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "read_issued";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("sink_stag", 32, m.sink_stag);
    v("sink_to", 64, m.sink_to);
    v("bytes", 32, m.bytes);
    v("epoch", 32, m.epoch);
  }
};

// The queue pair's stream is over: its receive requests complete with an error, and so do those posted later.
struct RqFlush {
  Qpn qpn;
  std::uint32_t epoch = 0;
  Cqn recv_cq = {};  // where they complete

  static constexpr const char* kMessage = "rq_flush";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
    v("recv_cq", m.recv_cq);
  }
};

}  // namespace rnic
