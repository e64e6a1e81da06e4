// States and events of the firmware's connections: the log carries them, and whoever prints it names them.
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
  kDraining,       // the host disconnects, or the peer has closed: the send queue runs out
  kTerminating,    // an error: the Terminate is on its way
  kClosing,        // our FIN is sent; TCP ends
  kRejected        // initiator: the peer rejected, and TCP stays open for another request
};
inline constexpr unsigned kConnStates = static_cast<unsigned>(ConnState::kRejected) + 1;

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
  kConnect  // another request, behind a rejection
};
inline constexpr unsigned kConnEvents = static_cast<unsigned>(ConnEvent::kConnect) + 1;

constexpr const char* name(ConnState state) {
  constexpr const char* kNames[] = {"free", "tcp_opening", "wait_reply",  "wait_request", "wait_host", "first_fpdu",
                                    "rts",  "draining",    "terminating", "closing",      "rejected"};
  static_assert(sizeof kNames / sizeof *kNames == kConnStates);
  return kNames[static_cast<unsigned>(state)];
}

constexpr const char* name(ConnEvent event) {
  constexpr const char* kNames[] = {"connected", "open_failed", "stream_data",        "peer_closed",  "reset",
                                    "closed",    "first_fpdu",  "terminate_received", "stream_error", "send_drained",
                                    "accept",    "reject",      "disconnect",         "timeout",      "connect"};
  static_assert(sizeof kNames / sizeof *kNames == kConnEvents);
  return kNames[static_cast<unsigned>(event)];
}

}  // namespace rnic::fw
