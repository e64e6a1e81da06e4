// Requests that change STags, on their way to stag_work, and its answers.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/common/ids.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

// Work requests that are not sent to the peer.
constexpr bool is_stag_work(abi::WrOpcode op) {
  return op == abi::WrOpcode::kLocalInv || op == abi::WrOpcode::kRegMr || op == abi::WrOpcode::kBindMw;
}

// The oldest request of a send queue.
struct StagRequest {
  Qpn qpn;
  std::uint32_t epoch = 0;  // of the queue pair
  abi::Wqe wqe;
  Pdn pd;  // of the queue pair
  StagUser user() const { return {qpn, epoch, pd}; }

  static constexpr const char* kMessage = "stag_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
    v("opcode", 8, m.wqe.opcode);
    v("invalidate_stag", 32, m.wqe.invalidate_stag);
    v("rkey", 32, m.wqe.rkey);
    v("wqe", m.wqe);
    v("pd", m.pd);
  }
};
// Of an STag that ended, or of a window that was bound: all writes that it allowed before are out.
struct StagRequestDone {
  Qpn qpn;
  std::uint32_t epoch = 0;
  abi::WcStatus status = abi::WcStatus::kSuccess;  // kMwBindErr: it is not permitted, and had no effect

  static constexpr const char* kMessage = "stag_request_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
    v("status", 8, m.status);
  }
};

// A Read with Invalidate is complete: its sink's STag ends, if it has not ended before.
struct SinkEnd {
  Stag stag;

  static constexpr const char* kMessage = "sink_end";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stag", m.stag);
  }
};
// All writes that it allowed are out. In the order of the requests.
struct SinkEnded {
  abi::WcStatus status = abi::WcStatus::kSuccess;  // kMwBindErr, without effect: windows were bound to it meanwhile

  static constexpr const char* kMessage = "sink_ended";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("status", 8, m.status);
  }
};

// The firmware's.
struct StagWrite {
  Stag stag;
  StagContext context;

  static constexpr const char* kMessage = "stag_write";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stag", m.stag);
    v("context", m.context);
  }
};
// If it took an STag away, all writes that this one allowed are out.
struct StagWritten {
  Stag stag;

  static constexpr const char* kMessage = "stag_written";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stag", m.stag);
  }
};

}  // namespace rnic
