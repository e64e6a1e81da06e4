// ConnectionManager: SCTP's stream events. The connection's session decides what an event means (stream_session.h). Its
// actions are executed here; those for the host become an event of the connection.
#pragma once

#include "firmware/conn/transport.h"

namespace rnic::fw {

constexpr SctpStreamAction stream_action(SessionAction::Kind kind) {
  using Kind = SessionAction::Kind;
  return kind == Kind::kBegin     ? SctpStreamAction::kBegin
         : kind == Kind::kOpen    ? SctpStreamAction::kOpen
         : kind == Kind::kDiscard ? SctpStreamAction::kDiscard
         : kind == Kind::kEndRun  ? SctpStreamAction::kEndRun
                                  : SctpStreamAction::kRestart;
}

constexpr bool is_terminate(const wire::SessionDecode& decode) {
  return decode.error == wire::SessionError::kNone && decode.message.code == wire::SessionCode::kTerminate;
}

// The QP may still hand segments down, so a session Terminate must wait.
constexpr bool sends_segments(ConnState s) {
  return s == ConnState::kRts || s == ConnState::kDraining || s == ConnState::kTerminating;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::take_session(Connection& c) {
  c.flow_context.llp = LlpId::kSctp;
  c.session = static_cast<std::uint16_t>(free_sessions_.take());
  session_of(c) = {};
}

// The session of a stream that the QP has just left. The hardware did not know that yet and reported the end to the QP.
// TCP would raise another event about the flow.
template <class Bus, class Capacity>
Connection* ConnectionManager<Bus, Capacity>::session_left_by(Qpn qpn) {
  const QpEntry* entry = resources_.qp(qpn);
  Connection* c = entry == nullptr ? nullptr : by_flow(entry->context.flow);
  return c != nullptr && is_over_sctp(*c) && c->qpn == qpn ? c : nullptr;
}

// Executes the session's actions for the hardware, in order. True if the session is over and the flow no longer ours.
// With `held`, a message is noted there instead of being sent.
template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::run(FlowId flow, const SessionActions& actions, ByteSpan private_data,
                                           bool* held) {
  using Kind = SessionAction::Kind;
  bool over = false;
  for (const SessionAction& action : actions) {
    if (is_for_host(action.kind) || action.kind == Kind::kSendRdmap) continue;
    if (action.kind != Kind::kSend) {
      bus_.write(SctpStream{flow, stream_action(action.kind), life_[flow.v]});
      over |= action.kind == Kind::kRestart;
    } else if (held != nullptr) {
      *held = true;
    } else {
      send_message(flow, action.message, private_data);
    }
  }
  return over;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::send_message(FlowId flow, const wire::SessionMessage& message,
                                                    ByteSpan private_data) {
  wire::SessionMessage whole = message;
  whole.private_data = private_data;
  const auto bytes = static_cast<std::uint32_t>(whole.bytes());
  whole.emit(bus_.sram({kSessionOutWindow.offset, bytes}));
  constexpr std::uint32_t kSsn = wire::kDdpSsnBytes;  // filled in by SCTP
  bus_.write(SctpSend{flow, {kSessionOutWindow.offset + kSsn, bytes - kSsn}, life_[flow.v]});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpConnected& event) {
  Connection* c = by_id(event.cookie);
  const bool usable = is_current(event.flow, event.life) && by_flow_[event.flow.v] == kNoConnection;
  if (c == nullptr || !usable) {
    bus_.write(SctpStream{event.flow, SctpStreamAction::kGiveBack, event.life});
    if (c != nullptr) on(SctpOpenFailed{event.cookie, OpenFailure::kNoResources});
    return;
  }
  ConnInput input{Event::kConnected};
  input.flow = event.flow;
  input.port = event.port;
  input.segment_limit = event.mulpdu;
  deliver(c, input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpOpenFailed& event) {
  on(TcpOpenFailed{event.cookie, event.reason});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpControl& event) {
  const std::uint32_t bytes = event.bytes + std::uint32_t{wire::kDdpSsnBytes};
  // This end supports RFC 6581; the policy says whether it uses it.
  const wire::SessionDecode decode = wire::decode_session_message(bus_.sram({kSessionWindow.offset, bytes}), true);
  if (!is_current(event.flow, event.life)) return;
  Connection* c = by_flow(event.flow);
  if (c == nullptr) return request_session(event, decode);
  peer_says(*c, decode, event.bytes);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpPeerClosed& event) {
  if (Connection* c = of_event(event); c != nullptr) peer_says(*c, session_terminate(), 0);
}

// In an open session a Terminate acts like TCP's FIN. It is answered when our own side has finished.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::peer_says(Connection& c, const wire::SessionDecode& decode,
                                                 std::uint32_t bytes) {
  const bool was_open = sends_segments(c.state) || c.state == State::kClosing || c.state == State::kLingering;
  if (was_open && is_terminate(decode)) return deliver(&c, ConnInput{Event::kPeerClosed});
  session_says(c, session_of(c).control(decode, {}, false), bytes);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::session_says(Connection& c, const SessionActions& actions, std::uint32_t bytes) {
  const SessionAction* verdict = host_part(actions);
  if (verdict == nullptr) {
    if (run(c.flow, actions, {}, sends_segments(c.state) ? &c.terminate_held : nullptr)) {
      deliver(&c, ConnInput{Event::kClosed});
    }
    return;
  }
  const bool violated =
      verdict->kind == SessionAction::Kind::kBroken || verdict->kind == SessionAction::Kind::kBadReply;
  if (violated) log(bus_, LogCode::kSessionViolation, c.flow.v);
  ConnInput input{Event::kSession};
  input.bytes = bytes;
  input.session = &actions;
  deliver(&c, input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpAcked& event) {
  if (!is_current(event.flow, event.life)) return;
  if (Connection* c = by_flow(event.flow); c != nullptr) return session_says(*c, session_of(*c).acknowledged());
  if (!is_being_refused(event.flow)) return;
  by_flow_[event.flow.v] = kNoConnection;
  bus_.write(SctpStream{event.flow, SctpStreamAction::kRestart, event.life});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpViolation& event) {
  if (!is_current(event.flow, event.life)) return;
  if (Connection* c = by_flow(event.flow); c != nullptr) {
    return session_says(*c, session_of(*c).violation(event.terminate));
  }
  refuse_stray(event.flow, StreamSession().violation(event.terminate));
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpStray& event) {
  if (!is_current(event.flow, event.life)) return;
  if (Connection* c = by_flow(event.flow); c != nullptr) {
    return session_says(*c, session_of(*c).stray(event.terminate));
  }
  refuse_stray(event.flow, StreamSession().stray(event.terminate));
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpLost& event) {
  if (!is_current(event.flow, event.life)) return;
  if (is_being_refused(event.flow)) {
    by_flow_[event.flow.v] = kNoConnection;
    return;
  }
  Connection* c = by_flow(event.flow);
  if (c != nullptr) session_of(*c).association_lost();
  deliver(c, ConnInput{Event::kReset});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const SctpMulpduChanged& event) {
  change_path(of_event(event), event.mulpdu);
}

// A peer's first message on a stream. Only a request that is passed to the host becomes a connection.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::request_session(const SctpControl& event, const wire::SessionDecode& decode) {
  if (is_being_refused(event.flow)) return;
  Listener* listener = listeners_.find(LlpId::kSctp, event.port);
  const bool room = listener != nullptr && !listener->full() && has_room(LlpId::kSctp);
  MpaPolicy policy;
  if (listener != nullptr) policy = policy_of(listener->flags, settings_);
  StreamSession session;
  const SessionActions actions = session.control(decode, session_policy(policy), room);
  const SessionAction* verdict = host_part(actions);
  if (verdict == nullptr || verdict->kind != SessionAction::Kind::kRequest) {
    if (!room) {
      log(bus_, listener == nullptr ? LogCode::kNoListener : LogCode::kNoResources, event.port, event.peer_ip);
    }
    return refuse_session(event.flow, actions);
  }
  Connection& c = *create(State::kSessionPending);
  take_session(c);
  session_of(c) = session;
  attach_flow(c, event.flow, event.mulpdu);
  c.peer_ip = event.peer_ip;
  c.peer_port = event.peer_port;
  c.local_port = event.port;
  c.listener = listener->serial;
  ++listener->pending;
  c.policy = policy;
  c.policy.personality = listener->personality;
  c.mpa_flags = cm_flags_of(verdict->message.enhanced);
  c.mpa_revision = revision_of(verdict->message);
  remember_depths(c, verdict->message.enhanced);
  report_peer(c, abi::EventType::kConnectRequest, abi::ConnectStatus::kOk, c.mpa_flags,
              private_data_of(*verdict, event.bytes));
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::refuse_stray(FlowId flow, const SessionActions& actions) {
  log(bus_, LogCode::kSessionViolation, flow.v);
  refuse_session(flow, actions);
}

// One refusal is enough; only its arrival is tracked.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::refuse_session(FlowId flow, const SessionActions& actions) {
  if (is_being_refused(flow)) return;
  if (actions.size() == 0) return;  // a Terminate is not answered
  by_flow_[flow.v] = kRefusedSession;
  run(flow, actions);
}

}  // namespace rnic::fw
