// The atomics that a chip's queue pairs have outstanding: a table with ports and a read latency. See orq_table.md.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/node_pool.h"
#include "model/common/table.h"

namespace rnic {

// What matching Atomic Responses needs of a queue pair's context.
struct OrqContext {
  bool valid = false;
  std::uint32_t epoch = 0;

  static OrqContext of(const QpContext& c) { return {c.valid, c.epoch}; }

  static constexpr const char* kMessage = "orq_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("epoch", 32, m.epoch);
  }
};

// What response_queue knows of a queue pair. The elements of its list are on the chip, wherever the row is.
struct QpOrq {
  std::uint32_t epoch = 0;  // of the context that the rest is about
  PooledQueue outstanding;  // atomics, in the order of their requests
  bool stopped = false;     // after an error

  static constexpr const char* kMessage = "qp_orq";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("outstanding", m.outstanding);
    v("stopped", 1, m.stopped);
  }
};

struct OrqRow {
  OrqContext qp;  // written by the firmware
  QpOrq state;    // response_queue's

  // The state in this use of the number; what is left of an earlier one does not count.
  QpOrq current() const {
    if (state.epoch == qp.epoch) return state;
    QpOrq begins;
    begins.epoch = qp.epoch;
    return begins;
  }

  static constexpr const char* kMessage = "orq_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using OrqTable = Table<OrqRow>;

// A request and a response each have a port of their own.
struct OrqTableConfig : TableConfig {
  constexpr OrqTableConfig() { read_ports = 2; }
};

}  // namespace rnic
