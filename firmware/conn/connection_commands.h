// ConnectionManager: the host's commands. All checks come before any action.
#pragma once

#include "firmware/conn/transport.h"

namespace rnic::fw {

// Limit on private data, in octets; the enhanced word leaves 508 (RFC 6581 section 9).
constexpr std::size_t private_data_limit(bool enhanced) {
  return wire::kMpaMaxPrivateData - (enhanced ? wire::MpaEnhanced::kBytes : 0);
}

template <class Bus, class Capacity>
abi::CommandStatus ConnectionManager<Bus, Capacity>::listen(const abi::Command& command) {
  const std::uint16_t port = command.u.cm.local_port;
  const LlpId llp = llp_of(command);
  const abi::Personality said = command.u.cm.personality;
  if (!consistent_cm_flags(command.flags)) return Status::kBadOp;
  if (!supports(settings_.personality, said)) return Status::kVersionNotSupported;
  const abi::Personality personality = resolve(said, settings_.personality);
  if (!speaks(llp, command.flags, personality)) return Status::kVersionNotSupported;
  if (port == 0) return Status::kBadIndex;
  if (listeners_.find(llp, port) != nullptr) return Status::kBusy;
  if (llp == LlpId::kMpaTcp && !resources_.has_home(abi::ContextKind::kFlow)) return Status::kNoHome;
  if (listeners_.add(llp, port, command.flags, personality, command.u.cm.backlog) == nullptr) {
    return Status::kNoResources;
  }
  tcp_listeners_ += llp == LlpId::kMpaTcp;
  llp == LlpId::kSctp ? bus_.write(SctpListen{port}) : bus_.write(TcpListen{port});
  return Status::kOk;
}

// Connections already accepted stay.
template <class Bus, class Capacity>
abi::CommandStatus ConnectionManager<Bus, Capacity>::unlisten(const abi::Command& command) {
  const LlpId llp = llp_of(command);
  Listener* listener = listeners_.find(llp, command.u.cm.local_port);
  if (listener == nullptr) return Status::kBadIndex;
  llp == LlpId::kSctp ? bus_.write(SctpUnlisten{listener->port}) : bus_.write(TcpUnlisten{listener->port});
  tcp_listeners_ -= llp == LlpId::kMpaTcp;
  *listener = {};
  return Status::kOk;
}

template <class Bus, class Capacity>
abi::CommandStatus ConnectionManager<Bus, Capacity>::check(const abi::Command& command) {
  const bool connect = command.op == abi::CommandOp::kConnect;
  const bool accept = command.op == abi::CommandOp::kAccept;

  if (command.op == abi::CommandOp::kDisconnect) {
    if (resources_.qp(Qpn{command.id}) == nullptr) return Status::kBadIndex;
    const Connection* c = by_qp(Qpn{command.id});
    if (c == nullptr) return Status::kBadState;
    const bool connecting = c->state == State::kTcpOpening || c->state == State::kWaitReply ||
                            c->state == State::kRejected || c->state == State::kSctpOpening ||
                            c->state == State::kInitSent;
    const bool connected = c->state == State::kRts || c->state == State::kWaitFirstFpdu;
    return connecting || connected ? Status::kOk : Status::kBadState;
  }

  const Connection* const asked = connect ? by_qp(Qpn{command.qpn}) : nullptr;
  const bool again = asked != nullptr && asked->state == State::kRejected && llp_of(command) == LlpId::kMpaTcp;
  bool enhanced = (command.flags & abi::kCmEnhanced) != 0;
  if (connect) {
    if (!consistent_cm_flags(command.flags)) return Status::kBadOp;
  } else {
    const Connection* c = by_id(command.id);
    if (c == nullptr) return Status::kBadIndex;
    if (!awaits_host(c->state)) return Status::kBadState;
    enhanced = (c->mpa_flags & abi::kCmEnhanced) != 0;
  }
  if (connect || accept) {
    const QpEntry* qp = resources_.qp(Qpn{command.qpn});
    if (qp == nullptr) return Status::kBadIndex;
    if ((qp->connection != kNoConnection && !again) || qp->context.state != QpState::kIdle) return Status::kBadState;
    if (!can_speak(command, qp->stream.personality)) return Status::kVersionNotSupported;
    const auto& cm = command.u.cm;
    if (cm.tcp.keep_alive > abi::KeepAlive::kOn) return Status::kBadOp;
    if (cm.ird > settings_.max_ird || cm.max_ird > settings_.max_ird || cm.ord > settings_.max_ord) {
      return Status::kNoResources;
    }
  }
  if (command.u.cm.need_ord > settings_.max_ord) return Status::kNoResources;
  if (command.private_bytes > private_data_limit(enhanced)) return Status::kBadLength;
  if (connect && !again) {
    make_room();
    if (!has_room(llp_of(command))) return Status::kNoResources;
  }
  return Status::kOk;
}

// Whether a queue pair of this personality can send the request, or answer the pending one.
template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::can_speak(const abi::Command& command, abi::Personality of_qp) {
  if (command.op == abi::CommandOp::kConnect) {
    return speaks(llp_of(command), command.flags, resolve(of_qp, settings_.personality));
  }
  const Connection& c = *by_id(command.id);
  if (is_over_sctp(c)) return speaks(LlpId::kSctp, 0, resolve(of_qp, c.policy.personality));
  return version_for_request(resolve(of_qp, c.policy.personality), c.mpa_revision).has_value();
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::perform(const abi::Command& command) {
  ConnInput input{Event::kDisconnect};
  input.command = &command;
  switch (command.op) {
    case abi::CommandOp::kAccept:
      input.event = Event::kAccept;
      return deliver(by_id(command.id), input);
    case abi::CommandOp::kReject:
      input.event = Event::kReject;
      return deliver(by_id(command.id), input);
    case abi::CommandOp::kDisconnect:
      return deliver(by_qp(Qpn{command.id}), input);
    default:
      break;
  }
  if (Connection* rejected = by_qp(Qpn{command.qpn}); rejected != nullptr) {
    input.event = Event::kConnect;
    return deliver(rejected, input);
  }
  llp_of(command) == LlpId::kSctp ? connect_over_sctp(command) : connect_over_tcp(command);
}

// The request waits in its slot until TCP is open.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::connect_over_tcp(const abi::Command& command) {
  Connection& c = *create(State::kTcpOpening);
  const auto& cm = command.u.cm;
  c.peer_ip = cm.peer_ip;
  c.peer_port = cm.peer_port;
  c.local_port = cm.local_port;
  attach_qp(c, Qpn{command.qpn});
  prepare(c, command);
  bus_.write(TcpOpen{cm.peer_ip, cm.peer_port, cm.local_port, id_of(c)});
}

// Writes the request to the connection's slot.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::prepare(Connection& c, const abi::Command& command) {
  set_initiator(c, command);
  c.stays = (command.u.cm.options & abi::kCmStay) != 0;
  apply(resources_.qp(Qpn{command.qpn})->stream, c.policy);
  write_frame(c, make_request(c.policy, bus_.sram({kCommandWindow.offset, command.private_bytes})));
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::set_initiator(Connection& c, const abi::Command& command) {
  c.mpa_flags = command.flags;
  c.policy = policy_of(command.flags, settings_);
  c.policy.rtr_order = command.u.cm.rtr_order;
  c.limits = command.u.cm.tcp;
  set_depths(c.policy, command, settings_);
}

}  // namespace rnic::fw
