// ConnectionManager: the setup of a DDP stream session in both roles (RFC 5043 section 6, RFC 6581 section 7). Segments
// may follow the Accept in both directions: an RTR message is sent, but neither side waits for it.
#pragma once

#include "firmware/conn/connection_setup.h"
#include "firmware/conn/session_events.h"

namespace rnic::fw {

// Messages have no markers, and their packets always have a CRC.
inline constexpr StreamOptions kSctpOptions{false, false, true};

// The initiator.

// The private data waits in the connection's slot until a stream is available.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::connect_over_sctp(const abi::Command& command) {
  Connection& c = *create(State::kSctpOpening);
  take_session(c);
  const auto& cm = command.u.cm;
  c.peer_ip = cm.peer_ip;
  c.peer_port = cm.peer_port;
  c.local_port = cm.local_port;
  attach_qp(c, Qpn{command.qpn});
  set_initiator(c, command);
  const ByteSpan private_data = bus_.sram({kCommandWindow.offset, command.private_bytes});
  const MutableByteSpan kept = bus_.sram(frame_range(c.slot, 0, command.private_bytes));
  __builtin_memcpy(kept.data(), private_data.data(), private_data.size());
  c.frame_bytes = command.private_bytes;
  bus_.write(SctpConnect{cm.peer_ip, cm.peer_port, cm.local_port, id_of(c)});
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::send_initiate(Connection& c, const ConnInput& in) {
  attach_flow(c, in.flow, in.segment_limit);
  if (in.port != 0) c.local_port = in.port;
  run(c.flow, session_of(c).connect(session_policy(c.policy)), frame_octets(c));
  return State::kInitSent;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_answered(Connection& c, const ConnInput& in) {
  using Kind = SessionAction::Kind;
  const SessionAction& verdict = *host_part(*in.session);
  c.mpa_revision = revision_of(verdict.message);
  remember_depths(c, verdict.message.enhanced);
  if (verdict.kind == Kind::kEstablished && !c.local_failure) return session_established(c, in, verdict);
  if (verdict.kind == Kind::kEstablished) return session_failed(c, in, verdict, SetupError::kLocalFailure);
  if (verdict.kind == Kind::kSetupFailed) return session_failed(c, in, verdict, verdict.error);

  const bool over = run(c.flow, *in.session);
  if (verdict.kind == Kind::kRejected) {
    report_peer(c, abi::EventType::kRejected, abi::ConnectStatus::kRefused, cm_flags_of(verdict.message.enhanced),
                private_data_of(verdict, in.bytes));
    c.setup_reported = true;
    if (c.local_failure) put_in_error(c.qpn);
    detach_qp(c);
  } else {
    const bool refused = verdict.kind == Kind::kRefused;
    report_setup_failure(c, refused ? abi::ConnectStatus::kReset : abi::ConnectStatus::kBadMpaFrame);
  }
  return linger(over);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_established(Connection& c, const ConnInput& in,
                                                                const SessionAction& verdict) {
  write_contexts(c, QpState::kRts, kSctpOptions, verdict.ird, verdict.ord);
  run(c.flow, *in.session);
  if (verdict.rtr != Rtr::kNone) bus_.write(PostWork{{c.qpn, work_of(verdict.rtr)}});
  c.mpa_flags = cm_flags_of(verdict.message.enhanced);
  const SramRange private_data = private_data_of(verdict, in.bytes);
  report_established(c, private_data.bytes, private_data.offset);
  return State::kRts;
}

// An RDMAP Terminate reports the error to the peer; the session Terminate follows it.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_failed(Connection& c, const ConnInput& in,
                                                           const SessionAction& verdict, SetupError error) {
  write_contexts(c, QpState::kTerminate, kSctpOptions, verdict.ird, verdict.ord);
  run(c.flow, *in.session, {}, &c.terminate_held);
  bus_.write(PostWork{{c.qpn, InternalWork::kTerminate, cause_of(error)}});
  bus_.write(PostWork{{c.qpn, InternalWork::kDrain}});
  report_peer(c, abi::EventType::kConnectError, status_of(error), cm_flags_of(verdict.message.enhanced),
              private_data_of(verdict, in.bytes));
  c.setup_reported = true;
  return State::kTerminating;
}

// The responder.

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::accept_session(Connection& c, const ConnInput& in) {
  const abi::Command& command = *in.command;
  set_depths(c.policy, command, settings_);
  const SessionActions actions = session_of(c).accept(session_policy(c.policy));
  const SessionAction& verdict = *host_part(actions);
  attach_qp(c, Qpn{command.qpn});
  if (verdict.kind == SessionAction::Kind::kSetupFailed) {  // the private data is not sent
    const bool over = run(c.flow, actions);
    report_setup_failure(c, status_of(verdict.error));
    return linger(over);
  }
  QpContext& qp = resources_.qp(c.qpn)->context;
  qp.responder = false;
  qp.absorbs_rtr_send = verdict.absorbs_rtr_send;
  write_contexts(c, QpState::kRts, kSctpOptions, verdict.ird, verdict.ord);
  run(c.flow, actions, bus_.sram({kCommandWindow.offset, command.private_bytes}));
  c.mpa_flags = cm_flags_of(actions.begin()->message.enhanced);  // the Accept
  report_established(c, 0, 0);
  return State::kRts;
}

// A rejection ends the session, even if the host would stay.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::reject_session(Connection& c, const ConnInput& in) {
  set_depths(c.policy, *in.command, settings_);
  const ByteSpan private_data = bus_.sram({kCommandWindow.offset, in.command->private_bytes});
  c.setup_reported = true;  // the host itself rejected
  return linger(run(c.flow, session_of(c).reject(session_policy(c.policy)), private_data));
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_withdrawn(Connection& c, const ConnInput& in) {
  const bool withdrawn = host_part(*in.session)->kind == SessionAction::Kind::kWithdrawn;
  const bool over = run(c.flow, *in.session);
  report_setup_failure(c, withdrawn ? abi::ConnectStatus::kReset : abi::ConnectStatus::kBadMpaFrame);
  return linger(over);
}

// The private data is the end of the message in the window, which has `bytes` octets after its DDP-SSN.
template <class Bus, class Capacity>
SramRange ConnectionManager<Bus, Capacity>::private_data_of(const SessionAction& verdict, std::uint32_t bytes) {
  const auto length = static_cast<std::uint32_t>(verdict.message.private_data.size());
  return {kSessionWindow.offset + std::uint32_t{wire::kDdpSsnBytes} + bytes - length, length};
}

}  // namespace rnic::fw
