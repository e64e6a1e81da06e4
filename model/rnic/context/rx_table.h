// The receive contexts of a chip's queue pairs: a table with ports and a read latency. See rx_table.md.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/node_pool.h"
#include "model/common/table.h"

namespace rnic {

// What the receive side needs of a queue pair's context.
struct RxContext {
  QpState state = QpState::kIdle;
  bool valid = false, extensions = false, absorbs_rtr_send = false;
  std::uint8_t version = 1;
  std::uint16_t ird = 0;
  Pdn pd;
  FlowId flow = kNoFlow;
  Cqn recv_cq;
  std::uint32_t epoch = 0, first_msn = 1;

  static RxContext of(const QpContext& c) {
    return {c.state, c.valid,   c.extensions, c.absorbs_rtr_send, c.version, c.ird, c.pd,
            c.flow,  c.recv_cq, c.epoch,      c.first_msn};
  }
  bool extended() const { return extensions && version == 1; }  // QpContext::extended()
  StagUser user(Qpn n) const { return {n, epoch, pd}; }
  // Nothing of a finished stream is placed (RFC 5041 section 7.1: silently).
  bool takes_segments() const { return valid && state != QpState::kTerminate && state != QpState::kError; }

  static constexpr const char* kMessage = "rx_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("state", 3, m.state);
    v("valid", 1, m.valid);
    v("extensions", 1, m.extensions);
    v("absorbs_rtr_send", 1, m.absorbs_rtr_send);
    v("version", 2, m.version);
    v("ird", 16, m.ird);
    v("pd", m.pd);
    v("flow", m.flow);
    v("recv_cq", m.recv_cq);
    v("epoch", 32, m.epoch);
    v("first_msn", 32, m.first_msn);
  }
};

// How far a queue pair's stream has come.
enum class RxStream : std::uint8_t {
  kNew,
  kBegun,   // the first FPDU, which may be a ready-to-receive message, has arrived
  kEnded,   // the peer's FIN has arrived
  kStopped  // after an error or a Terminate nothing more is placed
};

// What ddp_placement knows of a queue pair: how far its messages have come. The elements of its list are on the chip,
// wherever the row is.
struct QpRx {
  std::uint32_t epoch = 0;                                        // of the context that the rest is about
  std::uint32_t msn_send = 1, msn_request = 1, msn_response = 1;  // expected, of QN 0, 1 and 3
  std::uint32_t offset = 0;                                       // expected MO of the current Send
  std::uint32_t tagged_bytes = 0;                                 // of the current tagged message
  std::uint32_t read_bytes = 0;                                   // placed for the oldest outstanding Read
  PooledQueue reads;                                              // Reads whose responses are outstanding
  std::uint16_t requests = 0;  // of the peer, Reads and atomics, that are not answered
  RxStream stream = RxStream::kNew;

  bool stopped() const { return stream == RxStream::kStopped; }
  bool ended() const { return stream == RxStream::kEnded; }
  void stop() { stream = RxStream::kStopped; }

  static constexpr const char* kMessage = "qp_rx";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("msn_send", 32, m.msn_send);
    v("msn_request", 32, m.msn_request);
    v("msn_response", 32, m.msn_response);
    v("offset", 32, m.offset);
    v("tagged_bytes", 32, m.tagged_bytes);
    v("read_bytes", 32, m.read_bytes);
    v("reads", m.reads);
    v("requests", 16, m.requests);
    v("stream", 2, m.stream);
  }
};

struct RxRow {
  RxContext qp;  // written by the firmware
  QpRx state;    // ddp_placement's

  // The state in this use of the number; what is left of an earlier one does not count.
  QpRx current() const {
    if (state.epoch == qp.epoch) return state;
    QpRx begins;
    begins.epoch = qp.epoch;
    begins.msn_send = begins.msn_request = begins.msn_response = qp.first_msn;
    return begins;
  }

  static constexpr const char* kMessage = "rx_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using RxTable = Table<RxRow>;

// Each of the two lower layers, the events and early_placement have a port of their own.
struct RxTableConfig : TableConfig {
  constexpr RxTableConfig() { read_ports = 4; }
};

}  // namespace rnic
