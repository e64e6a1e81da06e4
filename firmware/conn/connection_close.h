// ConnectionManager: RDMA mode and the ways out of it. Whatever happens, the QP ends in the error state, its work is
// flushed, and the host gets one last event.
#pragma once

#include "firmware/conn/connection_manager.h"

namespace rnic::fw {

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::set_qp_state(const Connection& c, QpState state) {
  resources_.qp(c.qpn)->context.state = state;
  resources_.publish(c.qpn);
}

// Everything posted, now or later, completes with an error.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::put_in_error(Qpn qpn) {
  QpContext& qp = resources_.qp(qpn)->context;
  qp.state = QpState::kError;
  resources_.publish(qpn);
  bus_.write(PostWork{{qpn, InternalWork::kFlush, {}, qp.recv_cq}});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::fail(Qpn qpn) {
  const QpState state = resources_.qp(qpn)->context.state;
  if (state == QpState::kTerminate || state == QpState::kError) return;  // ending with an error, or ended
  if (const Connection* c = by_qp(qpn); c != nullptr && c->state == State::kClosing) return;  // our FIN is out
  on(QpStreamError{qpn, wire::rdma::kLocalCatastrophic});
}

// Ends the QP's stream: no more FPDUs are taken from the flow, and the QP can be destroyed.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::end_stream(Connection& c, abi::ConnectStatus status) {
  if (!c.has_qp) return;
  set_qp_state(c, QpState::kError);
  c.flow_context.rdma = false;
  bus_.write(WriteFlow{c.flow, c.flow_context});
  bus_.write(PostWork{{c.qpn, InternalWork::kFlush, {}, resources_.qp(c.qpn)->context.recv_cq}});
  const abi::EventType type = c.setup_reported ? abi::EventType::kDisconnected : abi::EventType::kConnectError;
  abi::Event event = connection_event(type, status, c, c.qpn.v);
  event.qp_state = abi::QpState::kError;
  bus_.write(PostEvent{event});
  detach_qp(c);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::report_qp_error(const Connection& c, const ConnInput& in,
                                                       abi::TerminateOrigin origin) {
  abi::Event event = connection_event(abi::EventType::kQpError, abi::ConnectStatus::kOk, c, c.qpn.v);
  event.terminate = wire::terminate_word(in.cause);
  event.terminate_origin = origin;
  event.private_bytes = in.terminate_bytes;
  bus_.write(PostEvent{event, kTerminateWindow.offset});
}

// The hardware has already lifted its fence.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::first_fpdu(Connection& c, const ConnInput&) {
  resources_.qp(c.qpn)->context.responder = false;
  if (!c.setup_reported) report_established(c, 0, 0);
  return State::kRts;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::disconnect(Connection& c, const ConnInput&) {
  set_qp_state(c, QpState::kClosing);
  bus_.write(PostWork{{c.qpn, InternalWork::kDrain}});
  return State::kDraining;
}

// Only the first error is reported; the stream is over before another one matters. A responder that has received no
// valid FPDU may send none (RFC 5044 section 7.1.2 rule 4). Only an error in a segment proves that one arrived.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::stream_error(Connection& c, const ConnInput& in) {
  set_qp_state(c, QpState::kTerminate);
  bus_.write(PostWork{{c.qpn, InternalWork::kTerminate, in.cause}});
  bus_.write(PostWork{{c.qpn, InternalWork::kDrain}});
  const bool fenced = resources_.qp(c.qpn)->context.responder && !wire::returns_ddp_header(in.cause);
  const bool found_ahead = in.event == Event::kStreamError && in.cause.layer == wire::Layer::kLlp;
  if (fenced && found_ahead) c.fenced_error = in.cause.code;
  else report_qp_error(c, in, fenced ? abi::TerminateOrigin::kUnsent : abi::TerminateOrigin::kLocal);
  return State::kTerminating;
}

// MPA finds an error before the FPDUs ahead of it are delivered, and their delivery lifts the fence. Whether a
// Terminate may be sent is known when the first FPDU is reported, or when the send queue has drained without it.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::first_fpdu_before_error(Connection& c, const ConnInput&) {
  tell_fenced_error(c, abi::TerminateOrigin::kLocal);
  return c.state;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::tell_fenced_error(Connection& c, abi::TerminateOrigin origin) {
  if (c.fenced_error == 0) return;
  ConnInput error{ConnEvent::kStreamError};
  error.cause = {wire::Layer::kLlp, 0, c.fenced_error};
  c.fenced_error = 0;
  report_qp_error(c, error, origin);
}

// Nothing follows a Terminate in either direction (RFC 5040 section 4.8).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::terminate_received(Connection& c, const ConnInput& in) {
  report_qp_error(c, in, in.malformed ? abi::TerminateOrigin::kMalformed : abi::TerminateOrigin::kPeer);
  end_stream(c, abi::ConnectStatus::kOk);
  return c.state == State::kClosing ? c.state : close_stream(c, false);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::drained(Connection& c, const ConnInput&) {
  tell_fenced_error(c, abi::TerminateOrigin::kUnsent);
  if (c.peer_closed) end_stream(c, abi::ConnectStatus::kOk);
  return close_stream(c, c.state == State::kDraining);
}

// Half the stream is over. Posted work and due responses go out before our FIN (RFC 5041 section 6.2).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::peer_closed(Connection& c, const ConnInput& in) {
  c.peer_closed = true;
  return disconnect(c, in);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::peer_closed_meanwhile(Connection& c, const ConnInput&) {
  c.peer_closed = true;
  return c.state;
}

// No Terminate can follow our FIN or session Terminate. Over TCP the peer learns of the error from an RST.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::error_after_fin(Connection& c, const ConnInput& in) {
  report_qp_error(c, in, abi::TerminateOrigin::kUnsent);
  return abort_stream(c, abi::ConnectStatus::kReset);
}

// Nothing more can be sent, so the error is reported only to the host (RFC 5044 section 8, error 1).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::stream_lost(Connection& c, const ConnInput& in) {
  ConnInput error = in;
  error.cause = cause_of_loss(c);
  report_qp_error(c, error, abi::TerminateOrigin::kUnsent);
  return stream_reset(c, in);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::stream_reset(Connection& c, const ConnInput&) {
  tell_fenced_error(c, abi::TerminateOrigin::kUnsent);
  end_stream(c, abi::ConnectStatus::kReset);
  return State::kFree;
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::stream_timeout(Connection& c, const ConnInput&) {
  tell_fenced_error(c, abi::TerminateOrigin::kUnsent);
  return abort_stream(c, abi::ConnectStatus::kTimeout);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::peer_closed_too(Connection& c, const ConnInput&) {
  end_stream(c, abi::ConnectStatus::kOk);
  return peer_is_through(c);
}

template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::stream_closed(Connection& c, const ConnInput&) {
  end_stream(c, abi::ConnectStatus::kOk);
  return State::kFree;
}

// The peer's message does not fit the session. The QP ends as after an error, without an RDMAP Terminate. The session
// Terminate follows everything that was handed down before.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_broken(Connection& c, const ConnInput& in) {
  run(c.flow, *in.session, {}, &c.terminate_held);
  if (c.state == State::kTerminating) return c.state;  // the first error is the one that counts
  ConnInput error = in;
  error.cause = cause_of_loss(c);
  set_qp_state(c, QpState::kTerminate);
  bus_.write(PostWork{{c.qpn, InternalWork::kDrain}});
  report_qp_error(c, error, abi::TerminateOrigin::kUnsent);
  return State::kTerminating;
}

// Our session Terminate has already been sent.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_broken_late(Connection& c, const ConnInput& in) {
  const bool over = run(c.flow, *in.session);
  ConnInput error = in;
  error.cause = cause_of_loss(c);
  if (c.has_qp) report_qp_error(c, error, abi::TerminateOrigin::kUnsent);
  end_stream(c, abi::ConnectStatus::kReset);
  return linger(over);
}

// The peer has not ended its session. From now on it occupies only the stream, or nothing if the association has no
// other session.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_abandoned(Connection& c, const ConnInput&) {
  bus_.write(SctpStream{c.flow, SctpStreamAction::kAbandon, life_of(c)});
  return State::kFree;
}

// A session that the peer accepts only now is no longer wanted.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::session_lingers(Connection& c, const ConnInput& in) {
  const bool accepted = host_part(*in.session)->kind == SessionAction::Kind::kEstablished;
  return linger(run(c.flow, accepted ? session_of(c).close(false) : *in.session));
}

}  // namespace rnic::fw
