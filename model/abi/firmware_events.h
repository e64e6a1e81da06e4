// The hardware's events for the firmware, one at a time: the target calls app::Firmware::on() with each. `life` is the
// flow's at the time of the event: flow numbers are reused, and their uses are counted. `kName` is the event in files.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/abi/type_list.h"
#include "model/common/ids.h"
#include "model/wire/terminate.h"

namespace rnic::fw {

struct TcpAccepted {  // passive open done
  static constexpr const char* kName = "tcp_accepted";
  FlowId flow;
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0, emss = 0;
  std::uint16_t life = 0;
};
struct TcpConnected {  // active open done
  static constexpr const char* kName = "tcp_connected";
  FlowId flow;
  std::uint32_t cookie = 0;
  std::uint16_t port = 0, emss = 0;
  std::uint16_t life = 0;
};
enum class OpenFailure : std::uint8_t { kNone, kRefused, kTimeout, kNoResources };
struct TcpOpenFailed {
  static constexpr const char* kName = "tcp_open_failed";
  std::uint32_t cookie = 0;
  OpenFailure reason = OpenFailure::kRefused;
};
// The octets requested by TcpStreamRead are in SRAM; fewer if the peer's FIN came before.
struct TcpStreamData {
  static constexpr const char* kName = "tcp_stream_data";
  FlowId flow;
  std::uint32_t bytes = 0;
  std::uint16_t life = 0;
};
struct TcpPeerClosed {
  static constexpr const char* kName = "tcp_peer_closed";
  FlowId flow;
  std::uint16_t life = 0;
};
struct TcpReset {  // the flow is gone
  static constexpr const char* kName = "tcp_reset";
  FlowId flow;
  std::uint16_t life = 0;
};
struct TcpClosed {  // both sides closed in order; the flow is gone
  static constexpr const char* kName = "tcp_closed";
  FlowId flow;
  std::uint16_t life = 0;
};
struct TcpEmssChanged {  // the path MTU became smaller
  static constexpr const char* kName = "tcp_emss_changed";
  FlowId flow;
  std::uint16_t emss = 0;
  std::uint16_t life = 0;
};

struct QpFirstFpdu {  // the first valid FPDU came in
  static constexpr const char* kName = "qp_first_fpdu";
  Qpn qpn;
};
// header_bytes: of the Terminate header in the Terminate window of the SRAM, 4 to 52; 0 if there is none.
struct QpTerminateReceived {
  static constexpr const char* kName = "qp_terminate_received";
  Qpn qpn;
  wire::TerminateCause cause;  // the peer's
  std::uint8_t header_bytes = 0;
  bool malformed = false;
};
struct QpStreamError {  // the peer's mistake, or a failure of our own: the stream is over and the peer must be informed
  static constexpr const char* kName = "qp_stream_error";
  Qpn qpn;
  wire::TerminateCause cause;
  std::uint8_t header_bytes = 0;
};
struct QpPeerClosed {  // everything before the peer's FIN is delivered
  static constexpr const char* kName = "qp_peer_closed";
  Qpn qpn;
};
struct QpSendDrained {  // answers InternalWork::kDrain
  static constexpr const char* kName = "qp_send_drained";
  Qpn qpn;
};

struct CqOverflow {  // the completion queue lost an entry
  static constexpr const char* kName = "cq_overflow";
  Cqn cqn;
};
struct SrqLimitReached {  // answers the ArmSrq of this serial, which is spent
  static constexpr const char* kName = "srq_limit_reached";
  Srqn srqn;
  std::uint32_t serial = 0;
};
struct HomeReleased {  // answers ReleaseHome: no access to the home is under way
  static constexpr const char* kName = "home_released";
};
struct ContextLost {  // it cannot be read from its home
  static constexpr const char* kName = "context_lost";
  abi::ContextKind kind = abi::ContextKind::kPages;
  std::uint32_t index = 0;
};
struct SrqOverrun {  // the host announced more than the ring holds
  static constexpr const char* kName = "srq_overrun";
  Srqn srqn;
};

// The private data is in the command window of the SRAM.
struct HostCommand {
  static constexpr const char* kName = "host_command";
  abi::Command command;
};

struct TimerExpired {
  static constexpr const char* kName = "timer_expired";
  std::uint32_t id = 0;
};

// Of SCTP. A flow is a stream of an association.
struct SctpConnected {  // a stream is there; no session yet
  static constexpr const char* kName = "sctp_connected";
  FlowId flow;
  std::uint32_t cookie = 0;
  std::uint16_t port = 0, mulpdu = 0;
  std::uint16_t life = 0;
};
struct SctpOpenFailed {
  static constexpr const char* kName = "sctp_open_failed";
  std::uint32_t cookie = 0;
  OpenFailure reason = OpenFailure::kRefused;
};
// A control message, in order, from its function code on: `bytes` octets in the session window of the SRAM.
struct SctpControl {
  static constexpr const char* kName = "sctp_control";
  FlowId flow;
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0, mulpdu = 0;
  std::uint16_t bytes = 0;
  std::uint16_t life = 0;
};
struct SctpAcked {  // a control message was acknowledged by the peer's SCTP
  static constexpr const char* kName = "sctp_acked";
  FlowId flow;
  std::uint16_t life = 0;
};
struct SctpPeerClosed {  // a session Terminate after all segments, of which no QP has heard
  static constexpr const char* kName = "sctp_peer_closed";
  FlowId flow;
  std::uint16_t life = 0;
};
struct SctpViolation {  // a chunk that violates a rule
  static constexpr const char* kName = "sctp_violation";
  FlowId flow;
  bool terminate = false;  // it is a session Terminate
  std::uint16_t life = 0;
};
struct SctpStray {  // a chunk without a session
  static constexpr const char* kName = "sctp_stray";
  FlowId flow;
  bool terminate = false;
  std::uint16_t life = 0;
};
struct SctpLost {  // the association is gone
  static constexpr const char* kName = "sctp_lost";
  FlowId flow;
  std::uint16_t life = 0;
};
struct SctpMulpduChanged {  // the path MTU became smaller
  static constexpr const char* kName = "sctp_mulpdu_changed";
  FlowId flow;
  std::uint16_t mulpdu = 0;
  std::uint16_t life = 0;
};

// All of them, in the order of their numbers on a target that passes them by number.
using Events =
    TypeList<TcpAccepted, TcpConnected, TcpOpenFailed, TcpStreamData, TcpPeerClosed, TcpReset, TcpClosed, QpFirstFpdu,
             QpTerminateReceived, QpStreamError, QpSendDrained, CqOverflow, SrqLimitReached, SrqOverrun, HostCommand,
             TimerExpired, TcpEmssChanged, QpPeerClosed, SctpConnected, SctpOpenFailed, SctpControl, SctpAcked,
             SctpPeerClosed, SctpViolation, SctpStray, SctpLost, SctpMulpduChanged, HomeReleased, ContextLost>;

// Those of the lower layers.
using LlpEvents = TypeList<TcpAccepted, TcpConnected, TcpOpenFailed, TcpStreamData, TcpPeerClosed, TcpReset, TcpClosed,
                           TcpEmssChanged, SctpConnected, SctpOpenFailed, SctpControl, SctpAcked, SctpPeerClosed,
                           SctpViolation, SctpStray, SctpLost, SctpMulpduChanged>;

}  // namespace rnic::fw
