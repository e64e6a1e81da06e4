// ConnectionManager: the few differences between MPA over TCP and DDP over SCTP once a connection has a stream. In both
// cases each end closes after the other: a FIN follows a FIN, a session Terminate a session Terminate.
#pragma once

#include <utility>

#include "firmware/conn/connection_manager.h"

namespace rnic::fw {

constexpr bool is_over_sctp(const Connection& c) { return c.flow_context.llp == LlpId::kSctp; }

constexpr wire::SessionDecode session_terminate() {
  wire::SessionDecode decode;
  decode.message.code = wire::SessionCode::kTerminate;
  return decode;
}

template <class Bus, class Capacity>
std::uint16_t ConnectionManager<Bus, Capacity>::mulpdu_of(const Connection& c) {
  return is_over_sctp(c) ? c.segment_limit
                         : static_cast<std::uint16_t>(wire::mulpdu(c.segment_limit, c.flow_context.tx_markers));
}

// RFC 5043 has no code for the loss of an association, or for a session that the peer broke.
template <class Bus, class Capacity>
wire::TerminateCause ConnectionManager<Bus, Capacity>::cause_of_loss(const Connection& c) {
  return is_over_sctp(c) ? wire::rdma::kLocalCatastrophic : wire::mpa::kConnectionLost;
}

// Sends our FIN or our session Terminate. A flow that does not end within the close timeout is aborted. `in_order`: the
// peer's segments in the session are still delivered.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::close_stream(Connection& c, bool in_order) {
  if (!is_over_sctp(c)) {
    bus_.write(TcpClose{c.flow, life_of(c)});
    return State::kClosing;
  }
  if (std::exchange(c.terminate_held, false)) send_message(c.flow, session_terminate().message, {});
  StreamSession& session = session_of(c);
  const bool over =
      run(c.flow, c.peer_closed ? session.control(session_terminate(), {}, false) : session.close(in_order));
  return over ? State::kFree : State::kClosing;
}

// Ends the stream out of order, without waiting. TCP resets the flow. An SCTP stream can be reset only with its
// association, which has other sessions. So it accepts the peer's session Terminate, however late, and carries nothing
// else until then (RFC 5040 section 9).
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::drop_stream(Connection& c) {
  if (c.flow == kNoFlow) return State::kFree;
  if (!is_over_sctp(c)) {
    bus_.write(TcpAbort{c.flow, life_of(c)});
    return State::kFree;
  }
  // Nothing is sent until the peer answers our Initiate: our Terminate might cross a rejection, after which the peer
  // may use the stream for another session.
  if (c.state == State::kInitSent) return State::kLingering;
  if (c.state != State::kClosing) return linger(close_stream(c, false) == State::kFree);
  StreamSession& session = session_of(c);
  if (session.state() == SessionState::kTermSent) run(c.flow, session.violation(false));  // later arrivals are dropped
  return State::kLingering;
}

// Ends the QP's stream out of order. A session Terminate is its sender's last chunk, so nothing more may be handed down
// when it is sent.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::abort_stream(Connection& c, abi::ConnectStatus status) {
  if (is_over_sctp(c)) {
    end_stream(c, status);
    return drop_stream(c);
  }
  const State next = drop_stream(c);
  end_stream(c, status);
  return next;
}

// TCP itself reports the end of the flow.
template <class Bus, class Capacity>
ConnState ConnectionManager<Bus, Capacity>::peer_is_through(Connection& c) {
  const bool over = is_over_sctp(c) && run(c.flow, session_of(c).control(session_terminate(), {}, false));
  return over ? State::kFree : c.state;
}

}  // namespace rnic::fw
