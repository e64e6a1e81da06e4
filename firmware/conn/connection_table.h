// ConnectionManager: the state table, and the actions common to all states.
#pragma once

#include "firmware/conn/connection_manager.h"

namespace rnic::fw {

template <class Bus, class Capacity>
const typename ConnectionManager<Bus, Capacity>::Row ConnectionManager<Bus, Capacity>::kTable[] = {
    {State::kTcpOpening, Event::kConnected, &ConnectionManager::send_request},
    {State::kTcpOpening, Event::kOpenFailed, &ConnectionManager::open_failed},
    {State::kTcpOpening, Event::kStreamError, &ConnectionManager::setup_failed},
    {State::kTcpOpening, Event::kDisconnect, &ConnectionManager::cancel},

    {State::kWaitReply, Event::kStreamData, &ConnectionManager::reply_octets},
    {State::kWaitReply, Event::kPeerClosed, &ConnectionManager::peer_left_setup},
    {State::kWaitReply, Event::kReset, &ConnectionManager::setup_reset},
    {State::kWaitReply, Event::kTimeout, &ConnectionManager::setup_timeout},
    {State::kWaitReply, Event::kStreamError, &ConnectionManager::setup_failed},
    {State::kWaitReply, Event::kDisconnect, &ConnectionManager::cancel},

    {State::kWaitRequest, Event::kStreamData, &ConnectionManager::request_octets},
    {State::kWaitRequest, Event::kPeerClosed, &ConnectionManager::peer_left_setup},
    {State::kWaitRequest, Event::kReset, &ConnectionManager::setup_reset},
    {State::kWaitRequest, Event::kTimeout, &ConnectionManager::setup_timeout},

    {State::kWaitHost, Event::kAccept, &ConnectionManager::accept},
    {State::kWaitHost, Event::kReject, &ConnectionManager::reject},
    {State::kWaitHost, Event::kStreamData, &ConnectionManager::octet_after_request},
    {State::kWaitHost, Event::kPeerClosed, &ConnectionManager::peer_left_setup},
    {State::kWaitHost, Event::kReset, &ConnectionManager::setup_reset},

    {State::kWaitFirstFpdu, Event::kFirstFpdu, &ConnectionManager::first_fpdu},
    {State::kWaitFirstFpdu, Event::kDisconnect, &ConnectionManager::disconnect},
    {State::kWaitFirstFpdu, Event::kStreamData, &ConnectionManager::octet_before_reply},
    {State::kWaitFirstFpdu, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kWaitFirstFpdu, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kWaitFirstFpdu, Event::kPeerClosed, &ConnectionManager::peer_closed},
    {State::kWaitFirstFpdu, Event::kReset, &ConnectionManager::stream_lost},
    {State::kWaitFirstFpdu, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kRts, Event::kFirstFpdu, &ConnectionManager::first_fpdu_of_reply},
    {State::kRts, Event::kDisconnect, &ConnectionManager::disconnect},
    {State::kRts, Event::kStreamData, &ConnectionManager::octet_before_reply},
    {State::kRts, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kRts, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kRts, Event::kPeerClosed, &ConnectionManager::peer_closed},
    {State::kRts, Event::kReset, &ConnectionManager::stream_lost},

    {State::kDraining, Event::kSendDrained, &ConnectionManager::drained},
    {State::kDraining, Event::kStreamData, &ConnectionManager::octet_before_reply},
    {State::kDraining, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kDraining, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kDraining, Event::kPeerClosed, &ConnectionManager::peer_closed_meanwhile},
    {State::kDraining, Event::kReset, &ConnectionManager::stream_lost},
    {State::kDraining, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kTerminating, Event::kFirstFpdu, &ConnectionManager::first_fpdu_before_error},
    {State::kTerminating, Event::kSendDrained, &ConnectionManager::drained},
    {State::kTerminating, Event::kPeerClosed, &ConnectionManager::peer_closed_meanwhile},
    {State::kTerminating, Event::kReset, &ConnectionManager::stream_reset},
    {State::kTerminating, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kClosing, Event::kStreamError, &ConnectionManager::error_after_fin},
    {State::kClosing, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kClosing, Event::kPeerClosed, &ConnectionManager::peer_closed_too},
    {State::kClosing, Event::kClosed, &ConnectionManager::stream_closed},
    {State::kClosing, Event::kReset, &ConnectionManager::stream_reset},
    {State::kClosing, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kRejected, Event::kConnect, &ConnectionManager::ask_again},
    {State::kRejected, Event::kDisconnect, &ConnectionManager::leave},
    {State::kRejected, Event::kStreamData, &ConnectionManager::octet_after_request},
    {State::kRejected, Event::kPeerClosed, &ConnectionManager::peer_left_setup},
    {State::kRejected, Event::kReset, &ConnectionManager::setup_reset},
    {State::kRejected, Event::kStreamError, &ConnectionManager::setup_failed},

    // DDP stream sessions over SCTP: events without a row above.
    {State::kSctpOpening, Event::kConnected, &ConnectionManager::send_initiate},
    {State::kSctpOpening, Event::kOpenFailed, &ConnectionManager::open_failed},
    {State::kSctpOpening, Event::kStreamError, &ConnectionManager::setup_failed},
    {State::kSctpOpening, Event::kDisconnect, &ConnectionManager::cancel},

    {State::kInitSent, Event::kSession, &ConnectionManager::session_answered},
    {State::kInitSent, Event::kReset, &ConnectionManager::setup_reset},
    {State::kInitSent, Event::kTimeout, &ConnectionManager::setup_timeout},
    {State::kInitSent, Event::kStreamError, &ConnectionManager::setup_failed},
    {State::kInitSent, Event::kDisconnect, &ConnectionManager::cancel},

    {State::kSessionPending, Event::kAccept, &ConnectionManager::accept_session},
    {State::kSessionPending, Event::kReject, &ConnectionManager::reject_session},
    {State::kSessionPending, Event::kSession, &ConnectionManager::session_withdrawn},
    {State::kSessionPending, Event::kReset, &ConnectionManager::setup_reset},

    {State::kRts, Event::kSession, &ConnectionManager::session_broken},
    {State::kDraining, Event::kSession, &ConnectionManager::session_broken},
    {State::kTerminating, Event::kSession, &ConnectionManager::session_broken},
    {State::kClosing, Event::kSession, &ConnectionManager::session_broken_late},

    {State::kLingering, Event::kSession, &ConnectionManager::session_lingers},
    {State::kLingering, Event::kPeerClosed, &ConnectionManager::peer_closed_too},
    {State::kLingering, Event::kClosed, &ConnectionManager::stream_closed},
    {State::kLingering, Event::kReset, &ConnectionManager::stream_reset},
    {State::kLingering, Event::kTimeout, &ConnectionManager::session_abandoned},
};

template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::has_row(State state, Event event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return true;
  }
  return false;
}

// An event without a row comes from a lost race or a hardware error. It is only logged.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::deliver(Connection* c, const ConnInput& input) {
  if (c != nullptr) {
    for (const Row& row : kTable) {
      if (row.state == c->state && row.event == input.event) return enter(*c, (this->*row.handler)(*c, input));
    }
  }
  log(bus_, LogCode::kUnexpectedEvent, static_cast<std::uint32_t>(input.event),
      c == nullptr ? kNoConnection : static_cast<std::uint32_t>(c->state));
}

// Sets the time limit of the new state, and frees the slot if the state needs none.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::enter(Connection& c, State next) {
  if (next == c.state) return;
  const bool timed = timeout_us(c.state, c.peer_to_peer, settings_) != 0;
  const std::uint32_t limit = timeout_us(next, c.peer_to_peer, settings_);
  log(bus_, LogCode::kConnectionState, id_of(c), static_cast<unsigned>(c.state) << 8 | static_cast<unsigned>(next));
  c.state = next;
  if (limit != 0) {
    bus_.write(SetTimer{index_of(c), limit});
  } else if (timed) {
    bus_.write(CancelTimer{index_of(c)});
  }
  if (c.slot != Connection::kNoSlot && !needs_slot(next)) {
    if (!free_slots_.give_back(c.slot)) bus_.write(Panic{PanicCode::kFreedTwice});
    c.slot = Connection::kNoSlot;
  }
  if (c.listener != 0 && !awaits_answer(next)) {
    listeners_.answered(c.flow_context.llp, c.local_port, c.listener);
    c.listener = 0;
  }
  if (next == State::kFree) release(c);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::release(Connection& c) {
  if (c.flow != kNoFlow) by_flow_[c.flow.v] = kNoConnection;
  if (c.session != Connection::kNoSession && !free_sessions_.give_back(c.session)) {
    bus_.write(Panic{PanicCode::kFreedTwice});
  }
  const auto generation = static_cast<std::uint16_t>((c.generation + 1) & 0x7fff);
  c = {};
  c.generation = generation;
  if (!free_connections_.give_back(index_of(c))) bus_.write(Panic{PanicCode::kFreedTwice});
}

}  // namespace rnic::fw
