// The completion contexts of a chip's queue pairs: a table with ports and a read latency. See sqc_table.md.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/node_pool.h"
#include "model/common/table.h"

namespace rnic {

// What the completion of send work requests needs of a queue pair's context.
struct SqcContext {
  Cqn send_cq;
  FlowId flow = kNoFlow;
  std::uint32_t epoch = 0;

  static SqcContext of(const QpContext& c) { return {c.send_cq, c.flow, c.epoch}; }

  static constexpr const char* kMessage = "sqc_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("send_cq", m.send_cq);
    v("flow", m.flow);
    v("epoch", 32, m.epoch);
  }
};

// What sq_completion knows of a queue pair: what it was issued, and what of that has come. The elements of its lists
// are on the chip, wherever the row is.
struct QpSq {
  static constexpr std::uint16_t kNone = 0xffff;

  std::uint32_t epoch = 0;                  // of the context that the rest is about
  PooledQueue outstanding;                  // requests, in posting order
  PooledQueue sinks;                        // of the Reads that wait for their response: WqeIssued::ends,
  PooledQueue outcomes;                     // and how the invalidation of those that have it went
  std::uint16_t sends = 0;                  // Sends and Writes in `outstanding`
  std::uint16_t lost = 0;                   // those of them that never left, which are the last ones
  std::uint16_t before_lost_value = kNone;  // atomics that arrived before one whose original value is lost
  std::array<std::uint16_t, 3> arrived{};   // acknowledgements, Read Responses, atomics: those that
                                            // have retired no request yet; below 0: still to come
  bool responses_over = false;              // our Terminate was sent, or the peer has closed: no more will come
  bool flushing = false;                    // the stream is over: nothing will be acknowledged any more

  static constexpr const char* kMessage = "qp_sq";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("outstanding", m.outstanding);
    v("sinks", m.sinks);
    v("outcomes", m.outcomes);
    v("sends", 16, m.sends);
    v("lost", 16, m.lost);
    v("before_lost_value", 16, m.before_lost_value);
    v("acks", 16, m.arrived[0]);
    v("reads", 16, m.arrived[1]);
    v("atomics", 16, m.arrived[2]);
    v("responses_over", 1, m.responses_over);
    v("flushing", 1, m.flushing);
  }
};

struct SqcRow {
  SqcContext qp;  // written by the firmware
  QpSq state;     // sq_completion's

  static constexpr const char* kMessage = "sqc_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using SqcTable = Table<SqcRow>;

// An event and a turn each have a port of their own.
struct SqcTableConfig : TableConfig {
  constexpr SqcTableConfig() { read_ports = 2; }
};

}  // namespace rnic
