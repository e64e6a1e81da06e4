// What MMIO writes become inside the chip, and requests for an interrupt.
#pragma once

#include <cstdint>

#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/request_id.h"
#include "model/common/trace_event.h"

namespace rnic {

struct SqDoorbell {
  Qpn qpn;
  std::uint32_t producer = 0;  // ring index after the newest WQE, modulo 4096

  static constexpr const char* kMessage = "sq_doorbell";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("producer", 32, m.producer);
  }
};
inline EventUse event_of(const SqDoorbell& d, const Owners& owners, TraceEvent& e) {
  if (!owners.has(d.qpn)) return EventUse::kNone;
  e.qpn = d.qpn.v;
  e.values[0] = d.producer;
  e.request = owners.queue_pair(d.qpn);
  return EventUse::kEvent;
}
struct RqDoorbell {
  Rqn rqn;
  std::uint32_t producer = 0;

  static constexpr const char* kMessage = "rq_doorbell";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
    v("producer", 32, m.producer);
  }
};
struct CqArm {
  Cqn cqn;
  bool solicited_only = false;
  std::uint32_t consumer = 0;  // completions the host has seen, modulo 2048: newer ones notify at once

  static constexpr const char* kMessage = "cq_arm";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("cqn", m.cqn);
    v("solicited_only", 1, m.solicited_only);
    v("consumer", 32, m.consumer);
  }
};
struct CommandDoorbell {
  std::uint32_t producer = 0;  // commands ever announced, modulo 2^16

  static constexpr const char* kMessage = "command_doorbell";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("producer", 32, m.producer);
  }
};
struct EventsTaken {
  std::uint32_t consumer = 0;  // events the host has taken, modulo 2^16

  static constexpr const char* kMessage = "events_taken";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("consumer", 32, m.consumer);
  }
};
// Asks event_writer to notify the host that an armed CQ has a completion.
struct CqNotify {
  Cqn cqn;

  static constexpr const char* kMessage = "cq_notify";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("cqn", m.cqn);
  }
};
struct MsixRequest {
  unsigned vector = 0;
  RequestId owner = {};  // on no pins

  static constexpr const char* kMessage = "msix_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("vector", 32, m.vector);
  }
};
inline EventUse event_of(const MsixRequest& m, const Owners&, TraceEvent& e) {
  e.values[0] = m.vector;
  e.request = m.owner;
  return EventUse::kEvent;
}

}  // namespace rnic
