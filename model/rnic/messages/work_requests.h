// Work queue entries of the host's rings, fetched, and the notice that their places in the prefetch buffers are free
// again.
#pragma once

#include <array>

#include "model/abi/host_abi.h"
#include "model/abi/memory_piece.h"
#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/rnic/messages/parts.h"

namespace rnic {

struct FetchedWqe {
  Qpn qpn;
  bool ok = true;  // false: host memory could not be read; wqe is empty
  abi::Wqe wqe;
  // Of its gather list, once its tagged offsets are addresses on the bus or offsets in pages.
  std::array<PageList, abi::kMaxSge> lists{};
  std::uint32_t epoch = 0;  // the use of the queue pair's number

  static constexpr const char* kMessage = "fetched_wqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("ok", 1, m.ok);
    v("opcode", 8, m.wqe.opcode);
    v("flags", 8, m.wqe.flags);
    v("invalidate_stag", 32, m.wqe.invalidate_stag);
    v("remote_address", 64, m.wqe.remote_address);
    v("rkey", 32, m.wqe.rkey);
    v("inline_bytes", 32, m.wqe.inline_bytes);
    v("wqe", m.wqe);
    v("epoch", 32, m.epoch);
  }
};
inline EventUse event_of(const FetchedWqe& w, const Owners& owners, TraceEvent& e) {
  e.qpn = w.qpn.v;
  e.values[0] = static_cast<std::uint32_t>(w.wqe.opcode);
  e.request = owners.request(w.qpn, w.wqe.wr_id);
  return EventUse::kEvent;
}
// The consumer has finished with one entry: its place in the prefetch buffer is free.
struct WqeTaken {
  Qpn qpn;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "wqe_taken";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};
// The same of a receive ring.
struct FetchedRqe {
  Rqn rqn;
  bool ok = true;
  abi::Wqe wqe;
  std::uint32_t epoch = 0;  // the use of the queue's number

  static constexpr const char* kMessage = "fetched_rqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
    v("ok", 1, m.ok);
    v("wqe", m.wqe);
    v("epoch", 32, m.epoch);
  }
};
// That of a shared queue belongs to no queue pair yet.
inline EventUse event_of(const FetchedRqe& r, const Owners& owners, TraceEvent& e) {
  constexpr std::uint32_t kReceiveRequest = 256;  // no opcode
  e.qpn = r.rqn.v;
  e.values[0] = kReceiveRequest;
  e.request = owners.request(r.rqn, r.rqn.shared ? r.wqe.wr_id >> abi::kSharedSlotBits : r.wqe.wr_id);
  return r.rqn.shared ? EventUse::kTimingOnly : EventUse::kEvent;
}
struct RqeTaken {
  Rqn rqn;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "rqe_taken";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
    v("epoch", 32, m.epoch);
  }
};

}  // namespace rnic
