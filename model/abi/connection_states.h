// States and events of the firmware's connections: the log carries them, and those who print it name them.
#pragma once

#include <cstdint>

namespace rnic::fw {

enum class ConnState : std::uint8_t {
  kFree,
  kTcpOpening,     // initiator: TCP handshake
  kWaitReply,      // initiator: request sent
  kWaitRequest,    // responder: TCP is open
  kWaitHost,       // responder: the host decides
  kWaitFirstFpdu,  // responder: in RDMA mode, must not send yet
  kRts,            // both directions flow
  kDraining,       // the host disconnects, or the peer has closed: the send queue drains
  kTerminating,    // an error: the Terminate is on its way
  kClosing,        // our FIN, or session Terminate, is sent; the stream ends
  kRejected,       // initiator: the peer rejected, and TCP stays open for another request
  // Of a DDP stream session over SCTP.
  kSctpOpening,     // initiator: a stream is requested
  kInitSent,        // initiator: the Initiate is sent
  kSessionPending,  // responder: the host decides
  kLingering        // over for the host; the stream is free when the peer has ended the session too
};
inline constexpr unsigned kConnStates = static_cast<unsigned>(ConnState::kLingering) + 1;

enum class ConnEvent : std::uint8_t {
  kConnected,
  kOpenFailed,
  kStreamData,
  kPeerClosed,
  kReset,
  kClosed,
  kFirstFpdu,
  kTerminateReceived,
  kStreamError,
  kSendDrained,
  kAccept,
  kReject,
  kDisconnect,
  kTimeout,
  kConnect,  // another request, after a rejection
  kSession   // a DDP stream session is answered, withdrawn or broken
};
inline constexpr unsigned kConnEvents = static_cast<unsigned>(ConnEvent::kSession) + 1;

constexpr const char* name(ConnState state) {
  constexpr const char* kNames[] = {"free",       "tcp_opening",  "wait_reply", "wait_request",    "wait_host",
                                    "first_fpdu", "rts",          "draining",   "terminating",     "closing",
                                    "rejected",   "sctp_opening", "init_sent",  "session_pending", "lingering"};
  static_assert(sizeof kNames / sizeof *kNames == kConnStates);
  return kNames[static_cast<unsigned>(state)];
}

constexpr const char* name(ConnEvent event) {
  constexpr const char* kNames[] = {"connected",    "open_failed",  "stream_data", "peer_closed",
                                    "reset",        "closed",       "first_fpdu",  "terminate_received",
                                    "stream_error", "send_drained", "accept",      "reject",
                                    "disconnect",   "timeout",      "connect",     "session"};
  static_assert(sizeof kNames / sizeof *kNames == kConnEvents);
  return kNames[static_cast<unsigned>(event)];
}

}  // namespace rnic::fw
