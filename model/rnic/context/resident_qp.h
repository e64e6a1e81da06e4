// What is always on the chip of a queue pair, whatever of it is in tables.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"

namespace rnic {

// The use of a queue pair's number.
struct QpLife {
  bool valid = false;
  std::uint32_t epoch = 0;  // QpContext::epoch

  static constexpr const char* kMessage = "qp_life";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("epoch", 32, m.epoch);
  }
};

struct ResidentQp {
  std::uint32_t epoch = 0;  // QpContext::epoch
  FlowId flow = kNoFlow;
  std::uint32_t srqn : 18;  // of the shared queue that it takes from, if it does
  bool shares_rq : 1, valid : 1;
  std::uint8_t log_sq : 4, log_rq : 4;  // ring sizes in entries
  QpState state : 3;                    // for observers

  ResidentQp() : srqn(0), shares_rq(false), valid(false), log_sq(0), log_rq(0), state(QpState::kIdle) {}
  Srqn srq() const { return Srqn{srqn}; }
  explicit ResidentQp(const QpContext& c)
      : epoch(c.epoch),
        flow(c.flow),
        srqn(c.srq.v & 0x3ffff),
        shares_rq(c.shares_rq),
        valid(c.valid),
        log_sq(c.log_sq & 15),
        log_rq(c.log_rq & 15),
        state(c.state) {}
  QpLife life() const { return {valid, epoch}; }
};
static_assert(sizeof(ResidentQp) == 12);

}  // namespace rnic
