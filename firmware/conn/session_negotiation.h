// The set-up of a DDP stream session over SCTP as pure functions. They compute the result of an Initiate, its answer
// and the local policy (RFC 5043 section 6, RFC 6581 section 7). IRD, ORD and RTR kinds are negotiated as over MPA.
#pragma once

#include <cstdint>

#include "firmware/conn/enhanced_negotiation.h"
#include "model/wire/ddp_session.h"

namespace rnic::fw {

struct SessionPolicy : EnhancedPolicy {
  bool reject_without_rtr = false;  // responder: without a common RTR kind, rejects without asking the host
};

// No message has private data yet: the caller adds it.
wire::SessionMessage make_initiate(const SessionPolicy& local);

// The handling of an Initiate before the host hears of it.
struct InitiateDecision {
  enum class Kind : std::uint8_t {
    kAsk,     // the host
    kReject,  // with `message`, for `error`
    kRefuse   // by a session Terminate
  };
  Kind kind = Kind::kAsk;
  wire::SessionMessage message;
  SetupError error = SetupError::kNone;
};
// `initiate` is of either kind. `room`: another request may wait for the host.
InitiateDecision examine_initiate(const wire::SessionMessage& initiate, const SessionPolicy& local, bool room);

// The answer to an Initiate that the host has seen.
struct SessionAnswer {
  wire::SessionMessage message;
  std::uint16_t ird = 0, ord = 0;        // local values from now on
  SetupError error = SetupError::kNone;  // not kNone: the message rejects for this reason

  constexpr void reject(SetupError reason) {
    error = reason;
    message.code = wire::SessionCode::kEnhancedReject;
  }
};
SessionAnswer accept_initiate(const wire::SessionMessage& initiate, const SessionPolicy& local);
// The host does not want the session.
wire::SessionMessage reject_initiate(const wire::SessionMessage& initiate, const SessionPolicy& local);

// The initiator's conclusion from the first message that comes back.
struct SessionResult {
  enum class Kind : std::uint8_t {
    kEstablished,
    kRejected,
    kRefused,    // by a session Terminate
    kTerminate,  // send an RDMAP Terminate with `error`, and a session Terminate
    kBadReply    // fits no sequence: send a session Terminate
  };
  Kind kind = Kind::kEstablished;
  SetupError error = SetupError::kNone;
  std::uint16_t ird = 0, ord = 0;  // local values from now on
  Rtr rtr = Rtr::kNone;            // to be sent first
};
SessionResult conclude_session(const wire::SessionMessage& initiate, const wire::SessionMessage& reply,
                               const SessionPolicy& local);

// A responder that does not support RFC 6581, or is over its limit, refuses. A plain session may then be tried, on this
// stream or another, if the host wants that.
constexpr bool may_retry_plain(const SessionPolicy& local, SessionResult::Kind kind, bool wanted) {
  return wanted && local.enhanced && kind == SessionResult::Kind::kRefused;
}

}  // namespace rnic::fw
