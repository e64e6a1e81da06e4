// Builds the entries of the host's event queue.
#pragma once

#include "firmware/conn/connection.h"
#include "model/abi/firmware_events.h"
#include "model/abi/host_abi.h"
#include "model/wire/terminate.h"

namespace rnic::fw {

constexpr abi::Event command_done(const abi::Command& command, abi::CommandStatus status) {
  abi::Event event;
  event.type = abi::EventType::kCommandDone;
  event.status = static_cast<std::uint8_t>(status);
  event.cookie = command.cookie;
  event.id = command.id;
  return event;
}

constexpr abi::Event cq_error(Cqn cqn) {
  abi::Event event;
  event.type = abi::EventType::kCqError;
  event.id = cqn.v;
  return event;
}

constexpr abi::Event srq_event(abi::EventType type, Srqn srqn) {
  abi::Event event;
  event.type = type;
  event.id = srqn.v;
  return event;
}

constexpr abi::Event context_lost(const ContextLost& lost) {
  abi::Event event;
  event.type = abi::EventType::kContextLost;
  event.status = static_cast<std::uint8_t>(lost.kind);
  event.id = lost.index;
  return event;
}

// About a connection: `id` is its QP, or the connection id while it has none.
constexpr abi::Event connection_event(abi::EventType type, abi::ConnectStatus status, const Connection& c,
                                      std::uint32_t id) {
  abi::Event event;
  event.type = type;
  event.status = static_cast<std::uint8_t>(status);
  event.id = id;
  event.peer_ip = c.peer_ip;
  event.peer_port = c.peer_port;
  event.local_port = c.local_port;
  event.peer_ird = c.peer_ird;
  event.peer_ord = c.peer_ord;
  event.mpa_revision = c.mpa_revision;
  event.mpa_flags = c.mpa_flags;
  event.ddp_version = c.version;
  return event;
}

// The error of a failed setup, as the first word of a Terminate; 0 if there is none (RFC 5044 section 8, RFC 6581
// section 8). SCTP has no code for a bad message.
constexpr std::uint32_t setup_error_word(abi::ConnectStatus status, LlpId llp) {
  using Status = abi::ConnectStatus;
  switch (status) {
    case Status::kBadMpaFrame:
    case Status::kBadRevision:
      return llp == LlpId::kSctp ? 0 : wire::terminate_word(wire::mpa::kInvalidStartupFrame);
    case Status::kInsufficientIrd:
      return wire::terminate_word(wire::mpa::kInsufficientIrd);
    case Status::kNoMatchingRtr:
      return wire::terminate_word(wire::mpa::kNoMatchingRtr);
    case Status::kLocalFailure:
      return wire::terminate_word(wire::mpa::kLocalCatastrophic);
    case Status::kOk:
    case Status::kRefused:
    case Status::kTimeout:
    case Status::kReset:
    case Status::kCancelled:
    case Status::kNoResources:
      break;
  }
  return 0;
}

constexpr abi::ConnectStatus status_of(OpenFailure failure) {
  return failure == OpenFailure::kTimeout       ? abi::ConnectStatus::kTimeout
         : failure == OpenFailure::kNoResources ? abi::ConnectStatus::kNoResources
                                                : abi::ConnectStatus::kRefused;
}
constexpr abi::ConnectStatus status_of(wire::MpaFrameError error) {
  return error == wire::MpaFrameError::kBadRev ? abi::ConnectStatus::kBadRevision : abi::ConnectStatus::kBadMpaFrame;
}
constexpr abi::ConnectStatus status_of(SetupError error) {
  return error == SetupError::kInsufficientIrd ? abi::ConnectStatus::kInsufficientIrd
         : error == SetupError::kNoMatchingRtr ? abi::ConnectStatus::kNoMatchingRtr
         : error == SetupError::kLocalFailure  ? abi::ConnectStatus::kLocalFailure
                                               : abi::ConnectStatus::kBadMpaFrame;
}

}  // namespace rnic::fw
