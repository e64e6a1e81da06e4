// One connection: its state, and what the firmware remembers about it.
#pragma once

#include <cstdint>

#include "firmware/conn/mpa_negotiation.h"
#include "firmware/conn/stream_session.h"
#include "firmware/lib/capacity.h"
#include "model/abi/connection_states.h"
#include "model/abi/context_types.h"
#include "model/abi/firmware_events.h"

namespace rnic::fw {

// An event with its data. Members that the event does not use keep their defaults.
struct ConnInput {
  ConnEvent event;
  FlowId flow = kNoFlow;
  std::uint16_t port = 0, segment_limit = 0;
  OpenFailure failure = OpenFailure::kRefused;
  std::uint32_t bytes = 0;
  wire::TerminateCause cause{};
  std::uint8_t terminate_bytes = 0;  // in the Terminate window
  bool malformed = false;            // the peer's Terminate is
  const abi::Command* command = nullptr;
  const SessionActions* session = nullptr;  // the session's actions, with something for the host
};

struct Connection {
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  static constexpr std::uint16_t kNoSession = 0xffff;

  ConnState state = ConnState::kFree;
  bool setup_reported = false;  // the host knows how the setup ended
  bool peer_to_peer = false;    // responder: the first FPDU is an RTR message
  bool has_qp = false;
  bool peer_closed = false;                      // in RDMA mode
  bool stays = false;                            // initiator: TCP stays open if the peer rejects
  bool local_failure = false;                    // initiator: reported to the peer when the reply permits it
  bool terminate_held = false;                   // the session Terminate goes out after the send queue has drained
  std::uint8_t mpa_revision = 0, mpa_flags = 0;  // agreed on
  std::uint8_t version = 1;                      // of DDP and RDMAP, once known
  std::uint8_t fenced_error = 0;                 // responder: code of an MPA error not yet reported to the host
  abi::TcpLimits limits;                         // of TCP, as requested by the host
  std::uint16_t generation = 0;
  std::uint16_t peer_port = 0, local_port = 0;
  std::uint16_t session = kNoSession;  // over SCTP: index of its session
  std::uint16_t segment_limit = 0;     // of the path: EMSS over TCP, MULPDU over SCTP
  std::uint16_t peer_ird = wire::MpaEnhanced::kNotNegotiated, peer_ord = wire::MpaEnhanced::kNotNegotiated;
  std::uint32_t peer_ip = 0;
  std::uint32_t listener = 0;                // serial of the listener while it counts this connection as pending
  std::uint32_t slot = kNoSlot;              // in the SRAM
  std::uint32_t frame_bytes = 0, asked = 0;  // octets of the startup frame in the slot, and requested
  FlowId flow = kNoFlow;
  Qpn qpn;
  FlowContext flow_context;
  MpaPolicy policy;
};

constexpr bool needs_slot(ConnState s) {
  return s == ConnState::kTcpOpening || s == ConnState::kWaitReply || s == ConnState::kWaitRequest ||
         s == ConnState::kWaitHost || s == ConnState::kRejected || s == ConnState::kSctpOpening ||
         s == ConnState::kInitSent || s == ConnState::kSessionPending;
}

constexpr bool awaits_host(ConnState s) { return s == ConnState::kWaitHost || s == ConnState::kSessionPending; }
constexpr bool awaits_answer(ConnState s) { return s == ConnState::kWaitRequest || awaits_host(s); }

// How long a connection may stay in a state; 0: the transport or the host limits it. RFC 5044 section 7.1.2 rules 8
// and 10.
constexpr std::uint32_t timeout_us(ConnState state, bool peer_to_peer, const Settings& settings) {
  switch (state) {
    case ConnState::kWaitReply:
    case ConnState::kInitSent:
      return settings.reply_timeout_us;
    case ConnState::kWaitRequest:
      return settings.request_timeout_us;
    case ConnState::kWaitFirstFpdu:
      return peer_to_peer ? settings.first_fpdu_timeout_us : 0;
    case ConnState::kDraining:
    case ConnState::kTerminating:
    case ConnState::kClosing:
    case ConnState::kLingering:
      return settings.close_timeout_us;
    case ConnState::kFree:
    case ConnState::kTcpOpening:
    case ConnState::kWaitHost:
    case ConnState::kRts:
    case ConnState::kRejected:
    case ConnState::kSctpOpening:
    case ConnState::kSessionPending:
      break;
  }
  return 0;
}

}  // namespace rnic::fw
