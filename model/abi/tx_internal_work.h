// What the firmware puts into a QP's transmit queue. Freestanding: the firmware builds the same struct.
#pragma once

#include <cstdint>

#include "model/common/ids.h"
#include "model/wire/terminate.h"

namespace rnic {

// Precedes the host's work requests and takes no entry of the host's queues; it completes nothing to the host.
struct TxInternalWork {
  enum class Kind : std::uint8_t {
    kRtrSend,  // zero-length ready-to-receive messages (RFC 6581 section 9.2)
    kRtrWrite,
    kRtrRead,
    kTerminate,  // the Terminate, then nothing more of the host
    kDrain,      // answered by QpEvent::kSendDrained when TCP has everything posted before
    kFlush       // completes everything in both queues with WcStatus::kWrFlushErr
  };
  Qpn qpn;
  Kind kind = Kind::kRtrSend;
  wire::TerminateCause cause{};  // kTerminate
  Cqn recv_cq{};                 // kFlush: where the receive requests complete
  std::uint32_t epoch = 0;       // the use of the QP's number: the chip adds it when it takes the work

  static constexpr const char* kMessage = "tx_internal_work";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("kind", 3, m.kind);
    v("cause", m.cause);
    v("recv_cq", m.recv_cq);
    v("epoch", 32, m.epoch);
  }
};

}  // namespace rnic
