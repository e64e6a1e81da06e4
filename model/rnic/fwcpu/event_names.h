// The firmware's events in words, by their numbers.
#pragma once

#include <array>

#include "model/abi/firmware_events.h"

namespace rnic {

inline constexpr std::array kEventNames{
    "tcp_accepted",    "tcp_connected",      "tcp_open_failed",   "tcp_stream_data",       "tcp_peer_closed",
    "tcp_reset",       "tcp_closed",         "qp_first_fpdu",     "qp_terminate_received", "qp_stream_error",
    "qp_send_drained", "cq_overflow",        "srq_limit_reached", "srq_overrun",           "host_command",
    "timer_expired",   "tcp_emss_changed",   "qp_peer_closed",    "sctp_connected",        "sctp_open_failed",
    "sctp_control",    "sctp_acked",         "sctp_peer_closed",  "sctp_violation",        "sctp_stray",
    "sctp_lost",       "sctp_mulpdu_changed"};
static_assert(kEventNames.size() == fw::Events::kSize);

}  // namespace rnic
