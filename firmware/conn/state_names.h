// The names of the connection state machine, for whoever watches it.
#pragma once

#include "firmware/conn/connection.h"

namespace rnic::fw {

constexpr const char* name(ConnState state) {
  constexpr const char* kNames[] = {"free", "tcp_opening", "wait_reply",  "wait_request", "wait_host", "first_fpdu",
                                    "rts",  "draining",    "terminating", "closing",      "rejected"};
  static_assert(sizeof kNames / sizeof *kNames == static_cast<unsigned>(ConnState::kRejected) + 1);
  return kNames[static_cast<unsigned>(state)];
}

constexpr const char* name(ConnEvent event) {
  constexpr const char* kNames[] = {"connected", "open_failed", "stream_data",        "peer_closed",  "reset",
                                    "closed",    "first_fpdu",  "terminate_received", "stream_error", "send_drained",
                                    "accept",    "reject",      "disconnect",         "timeout",      "connect"};
  static_assert(sizeof kNames / sizeof *kNames == static_cast<unsigned>(ConnEvent::kConnect) + 1);
  return kNames[static_cast<unsigned>(event)];
}

}  // namespace rnic::fw
