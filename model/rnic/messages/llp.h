// What the chip's stages and a lower layer tell each other beside octets: credit, acknowledgements, the end of a
// stream.
#pragma once

#include <cstdint>

#include "model/common/ids.h"

namespace rnic {

// Octets that the segmenter may hand to a flow in addition. Window, not yet sent: an FPDU cut under credit never waits
// for the peer inside the shared pipeline.
struct TxCredit {
  FlowId flow;
  std::uint32_t bytes = 0;
  Qpn qpn = {};             // of the flow,
  std::uint32_t epoch = 0;  // in this use of its number

  static constexpr const char* kMessage = "tx_credit";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 32, m.bytes);
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

// The peer's TCP or SCTP acknowledged the last octet of `wqes` Sends and Writes, in posting order.
struct WqesAcked {
  FlowId flow;
  std::uint32_t wqes = 0;
  Qpn qpn = {};  // as TxCredit
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "wqes_acked";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("wqes", 32, m.wqes);
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

// Received octets that left the receive pipeline (placed or dropped): opens the receive window again.
struct RxConsumed {
  FlowId flow;
  std::uint32_t bytes = 0;

  static constexpr const char* kMessage = "rx_consumed";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 32, m.bytes);
  }
};

// The beat that represents the peer's FIN, or its session Terminate, has passed all stages that FPDUs pass.
struct StreamEnded {
  FlowId flow;
  bool told = false;  // the firmware hears of it from the QP

  static constexpr const char* kMessage = "stream_ended";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("told", 1, m.told);
  }
};

}  // namespace rnic
