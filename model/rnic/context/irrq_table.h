// The inbound request queues of a chip's queue pairs: a table with ports and a read latency. See irrq_table.md.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/node_pool.h"
#include "model/common/table.h"

namespace rnic {

// What the queue of inbound requests needs of a queue pair's context.
struct IrrqContext {
  bool valid = false;
  std::uint16_t ird = 0;
  std::uint32_t epoch = 0;

  static IrrqContext of(const QpContext& c) { return {c.valid, c.ird, c.epoch}; }

  static constexpr const char* kMessage = "irrq_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("ird", 16, m.ird);
    v("epoch", 32, m.epoch);
  }
};

// What irrq knows of a queue pair. The elements of its list are on the chip, wherever the row is.
struct QpIrrq {
  std::uint32_t epoch = 0;  // of the context that the rest is about
  PooledQueue waiting;      // requests, in their order; there are none unless one is being answered
  bool busy = false;        // one was passed on and is being answered
  bool overrun = false;     // the peer broke the limit: the stream is over
  std::uint32_t held() const { return waiting.size + busy; }

  static constexpr const char* kMessage = "qp_irrq";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("waiting", m.waiting);
    v("busy", 1, m.busy);
    v("overrun", 1, m.overrun);
  }
};

struct IrrqRow {
  IrrqContext qp;  // written by the firmware
  QpIrrq state;    // irrq's

  // The state in this use of the number; what is left of an earlier one does not count.
  QpIrrq current() const {
    if (state.epoch == qp.epoch) return state;
    QpIrrq begins;
    begins.epoch = qp.epoch;
    return begins;
  }

  static constexpr const char* kMessage = "irrq_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using IrrqTable = Table<IrrqRow>;

}  // namespace rnic
