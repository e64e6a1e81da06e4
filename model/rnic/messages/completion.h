// Messages to the completion path. Those about a queue pair name the use of its number, `epoch`.
#pragma once

#include <optional>

#include "model/abi/host_abi.h"
#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/request_id.h"
#include "model/common/trace_event.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

// A completion queue entry to write; the writer sets its phase.
struct CqeRequest {
  Cqn cqn;
  abi::Cqe cqe;
  RequestId owner = {};    // the completed work: of a receive request, the peer's message; on no pins
  RequestId receive = {};  // the receive request that it used

  static constexpr const char* kMessage = "cqe_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("cqn", m.cqn);
    v("cqe", m.cqe);
  }
};
inline EventUse event_of(const CqeRequest& c, const Owners&, TraceEvent& e) {
  e.qpn = c.cqe.qpn;
  e.bytes = c.cqe.byte_len;
  e.values[0] = static_cast<std::uint32_t>(c.cqe.status);
  e.request = c.owner ? c.owner : c.receive;
  if (c.owner) e.receive = c.receive;
  return EventUse::kEvent;
}
// A completion queue had no room for an entry: the entry is lost, and all later ones.
struct CqOverflow {
  Cqn cqn;

  static constexpr const char* kMessage = "cq_overflow";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("cqn", m.cqn);
  }
};
// A work request has completely left the segmenter: it completes when its condition is met, in posting order.
struct WqeIssued {
  Qpn qpn;
  std::uint64_t wr_id = 0;
  std::uint32_t bytes = 0;
  abi::WrOpcode opcode = abi::WrOpcode::kSend;
  abi::WcStatus status = abi::WcStatus::kSuccess;  // an error found before anything was sent
  bool signaled = true;
  bool internal = false;          // a ready-to-receive Read: retired without a completion
  std::optional<Stag> ends = {};  // a Read's sink, to be invalidated when the response is placed
  // Not a work request, but sent in completion order: report to the firmware that everything before is complete,
  // complete everything before with an error, or the Terminate, after which no response is expected.
  enum class Marker : std::uint8_t { kNone, kDrain, kFlush, kTerminate };
  friend const ValueWords& value_words(Marker) {
    static const ValueWords kWords{"none", "drain", "flush", "terminate"};
    return kWords;
  }
  Marker marker = Marker::kNone;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "wqe_issued";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("wr_id", 64, m.wr_id);
    v("bytes", 32, m.bytes);
    v("opcode", 8, m.opcode);
    v("status", 8, m.status);
    v("signaled", 1, m.signaled);
    v("internal", 1, m.internal);
    const bool ends = m.ends.has_value();
    const Stag ended = m.ends.value_or(Stag{});
    v("ends", 1, ends);
    v("ended_stag", ended);
    v("marker", 2, m.marker);
    v("epoch", 32, m.epoch);
  }
};

// The last FPDU of a Send or Write was dropped before TCP had it, for its stream broke: no acknowledgement will come.
struct WqeLost {
  Qpn qpn;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "wqe_lost";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

// The oldest outstanding RDMA Read of a QP is complete: all its octets are placed. Or the peer has closed.
struct ReadDone {
  Qpn qpn;
  bool closed = false;  // no more responses will come
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "read_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("closed", 1, m.closed);
    v("epoch", 32, m.epoch);
  }
};

// An Atomic Request has left the segmenter; its response is expected.
struct AtomicIssued {
  Qpn qpn;
  std::uint32_t request_id = 0;
  abi::Sge sink;  // of the value before the operation
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "atomic_issued";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request_id", 32, m.request_id);
    v("sink", m.sink);
    v("epoch", 32, m.epoch);
  }
};
// The oldest outstanding atomic of a QP is complete: the value is in local memory.
struct AtomicDone {
  Qpn qpn;
  bool ok = true;  // false: there is no page for the original value
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "atomic_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("ok", 1, m.ok);
    v("epoch", 32, m.epoch);
  }
};

}  // namespace rnic
