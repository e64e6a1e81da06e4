// What is always on the chip of a queue pair, whatever of it is in tables.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"

namespace rnic {

struct ResidentQp {
  std::uint32_t epoch = 0;  // QpContext::epoch
  FlowId flow = kNoFlow;
  Cqn recv_cq;
  Srqn srq;
  bool valid = false;
  std::uint8_t log_sq : 4, log_rq : 4;  // ring sizes in entries
  QpState state : 4;                    // for observers
  bool shares_rq : 1;

  ResidentQp() : log_sq(0), log_rq(0), state(QpState::kIdle), shares_rq(false) {}
  explicit ResidentQp(const QpContext& c)
      : epoch(c.epoch),
        flow(c.flow),
        recv_cq(c.recv_cq),
        srq(c.srq),
        valid(c.valid),
        log_sq(c.log_sq & 15),
        log_rq(c.log_rq & 15),
        state(c.state),
        shares_rq(c.shares_rq) {}

  // What twins are shown.
  static constexpr const char* kMessage = "resident_qp";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("epoch", 32, m.epoch);
  }
};
static_assert(sizeof(ResidentQp) == 20);

}  // namespace rnic
