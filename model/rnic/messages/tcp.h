// The interface between the chip and the TCP offload: operations and events of the firmware, credit, acknowledgements.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/common/buffer.h"
#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/common/value_words.h"

namespace rnic {

// A connection's lower-layer streaming mode (RFC 5044 section 7.1) belongs to the firmware, which reads exactly the
// octets it asks for; kEnterRdma then switches the stream at that very octet, in both directions.
struct TcpOp {
  enum class Kind : std::uint8_t {
    kListen,      // port
    kUnlisten,    // port
    kOpen,        // peer_ip, peer_port, local port (0: ephemeral), cookie: active open
    kStreamSend,  // flow, data: octets of the start-up frame; withdraws a kStreamRead that is not answered yet
    kStreamRead,  // flow, bytes: answered by kStreamData when that many octets are there (or fewer, with a FIN)
    kEnterRdma,   // flow: all further received octets go to the deframer, all further sent ones are FPDUs
    kClose,       // flow: FIN after everything handed over
    kAbort,       // flow: RST, release
    kSetLimits    // flow, limits
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"listen",     "unlisten", "open",  "stream_send", "stream_read",
                                   "enter_rdma", "close",    "abort", "set_limits"};
    return kWords;
  }
  Kind kind = Kind::kListen;
  FlowId flow;
  std::uint16_t life = 0;  // of the flow: an operation for an earlier life has no effect
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;
  std::uint32_t cookie = 0;
  std::uint32_t bytes = 0;
  abi::TcpLimits limits;
  BufferRef data;  // kStreamSend: `bytes` octets from its start

  static constexpr const char* kMessage = "tcp_op";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 4, m.kind);
    v("flow", m.flow);
    v("life", 16, m.life);
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("port", 16, m.port);
    v("cookie", 32, m.cookie);
    v("bytes", 32, m.bytes);
    v("limits", m.limits);
  }
};

struct TcpEvent {
  enum class Kind : std::uint8_t {
    kAccepted,    // passive open done: flow, port, peer_ip, peer_port, emss
    kConnected,   // active open done: flow, cookie, peer_ip, peer_port, emss
    kOpenFailed,  // cookie, reason
    kStreamData,  // flow, data, bytes
    kPeerClosed,  // flow: FIN received, all octets before it were handed over
    kReset,       // flow: RST received or retransmission gave up; the flow is gone
    kClosed,      // flow: both sides closed in order; the flow is gone
    kEmssChanged  // flow, emss: the path MTU became smaller
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"accepted",    "connected", "open_failed", "stream_data",
                                   "peer_closed", "reset",     "closed",      "emss_changed"};
    return kWords;
  }
  enum class Reason : std::uint8_t { kNone, kRefused, kTimeout, kNoResources };
  friend const ValueWords& value_words(Reason) {
    static const ValueWords kWords{"none", "refused", "timeout", "no_resources"};
    return kWords;
  }
  Kind kind = Kind::kAccepted;
  Reason reason = Reason::kNone;
  FlowId flow;
  std::uint16_t life = 0;  // counts the uses of the flow's number
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;
  std::uint32_t cookie = 0;
  std::uint16_t emss = 0;  // octets of a TCP segment's payload (RFC 5044 section 4.5)
  Cycle syn_at = 0;        // kAccepted, kConnected: when the first SYN arrived or was sent
  std::uint32_t bytes = 0;
  BufferRef data;

  static constexpr const char* kMessage = "tcp_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("reason", 2, m.reason);
    v("flow", m.flow);
    v("life", 16, m.life);
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("port", 16, m.port);
    v("cookie", 32, m.cookie);
    v("emss", 16, m.emss);
    v("syn_at", 64, m.syn_at);
    v("bytes", 32, m.bytes);
  }
};

// Octets that the segmenter may hand to a flow in addition. Window, not yet sent: an FPDU cut under credit never waits
// for the peer inside the shared pipeline.
struct TxCredit {
  FlowId flow;
  std::uint32_t bytes = 0;

  static constexpr const char* kMessage = "tx_credit";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 32, m.bytes);
  }
};

// The peer's TCP or SCTP acknowledged the last octet of `wqes` Sends and Writes, in posting order.
struct WqesAcked {
  FlowId flow;
  std::uint32_t wqes = 0;

  static constexpr const char* kMessage = "wqes_acked";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("wqes", 32, m.wqes);
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
