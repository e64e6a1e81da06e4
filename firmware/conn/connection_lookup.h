// ConnectionManager: finds the connection of an event, and the room, flow and QP of a connection.
#pragma once

#include "firmware/conn/connection_manager.h"

namespace rnic::fw {

template <class Bus, class Capacity>
std::uint32_t ConnectionManager<Bus, Capacity>::id_of(const Connection& c) const {
  return kConnectionIdBit | std::uint32_t{c.generation} << 16 | index_of(c);
}

template <class Bus, class Capacity>
Connection* ConnectionManager<Bus, Capacity>::by_id(std::uint32_t id) {
  static_assert(Capacity::kConnections <= 0x10000, "an id has 16 bits for the index");
  const std::uint32_t index = id & 0xffff;
  if (index >= Capacity::kConnections) return nullptr;
  Connection& c = connections_[index];
  return c.state != State::kFree && id == id_of(c) ? &c : nullptr;
}

template <class Bus, class Capacity>
Connection* ConnectionManager<Bus, Capacity>::by_flow(FlowId flow) {
  if (flow.v >= settings_.flows || by_flow_[flow.v] >= Capacity::kConnections) return nullptr;
  return &connections_[by_flow_[flow.v]];
}

// Whether an event belongs to the flow's present life or begins the next one. An event of an earlier life is dropped.
// An earlier refusal does not count in the next life: operations that the firmware still issued had no effect.
template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::is_current(FlowId flow, std::uint16_t life) {
  if (flow.v >= settings_.flows) return false;
  const auto ahead = static_cast<std::int16_t>(life - life_[flow.v]);
  if (ahead < 0) {
    log(bus_, LogCode::kStaleEvent, flow.v);
    return false;
  }
  if (ahead > 0 && is_being_refused(flow)) by_flow_[flow.v] = kNoConnection;
  life_[flow.v] = life;
  return true;
}

template <class Bus, class Capacity>
Connection* ConnectionManager<Bus, Capacity>::by_qp(Qpn qpn) {
  const QpEntry* entry = resources_.qp(qpn);
  return entry == nullptr || entry->connection == kNoConnection ? nullptr : &connections_[entry->connection];
}

template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::has_room() const {
  const auto below = [](std::uint32_t used, std::uint32_t limit) { return limit == 0 || used < limit; };
  return free_connections_.available() != 0 && free_slots_.available() != 0 &&
         below(connections(), settings_.connections) && below(setups(), settings_.setups);
}

template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::has_room(LlpId llp) const {
  return has_room() && (llp == LlpId::kMpaTcp || free_sessions_.available() != 0);
}

// Peers that connect but send no request do not keep others out for long. If there is no room, or a listener's backlog
// is full, one such connection (of that listener) is reset. They are chosen round-robin, so the newest comes last.
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::make_room(const Listener* listener) {
  const bool full = listener != nullptr && listener->full();
  if (!full && has_room()) return;
  for (std::uint32_t tries = 0; tries < Capacity::kConnections; ++tries) {
    silent_ = (silent_ + 1) % Capacity::kConnections;
    Connection& c = connections_[silent_];
    if (c.state != State::kWaitRequest || (full && c.listener != listener->serial)) continue;
    log(bus_, LogCode::kSilentPeer, id_of(c), c.peer_ip);
    return deliver(&c, ConnInput{Event::kTimeout});
  }
}

// A new connection in its first state, with a slot for startup frames; nullptr if there is no room.
template <class Bus, class Capacity>
Connection* ConnectionManager<Bus, Capacity>::create(State state) {
  if (!has_room()) return nullptr;
  Connection& c = connections_[free_connections_.take()];
  c.slot = free_slots_.take();
  enter(c, state);
  return &c;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::attach_flow(Connection& c, FlowId flow, std::uint16_t segment_limit) {
  c.flow = flow;
  c.segment_limit = segment_limit;
  by_flow_[flow.v] = index_of(c);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::attach_qp(Connection& c, Qpn qpn) {
  c.qpn = qpn;
  c.has_qp = true;
  resources_.qp(qpn)->connection = index_of(c);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::detach_qp(Connection& c) {
  if (c.has_qp) resources_.qp(c.qpn)->connection = kNoConnection;
  c.has_qp = false;
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpAccepted& event) {
  Listener* listener = listeners_.find(LlpId::kMpaTcp, event.port);
  if (listener != nullptr) make_room(listener);
  const bool takes_it = listener != nullptr && !listener->full() && is_current(event.flow, event.life);
  Connection* c = takes_it ? create(State::kWaitRequest) : nullptr;
  if (c == nullptr) {
    log(bus_, listener == nullptr ? LogCode::kNoListener : LogCode::kNoResources, event.port, event.peer_ip);
    bus_.write(TcpAbort{event.flow, event.life});
    return;
  }
  attach_flow(*c, event.flow, event.emss);
  c->peer_ip = event.peer_ip;
  c->peer_port = event.peer_port;
  c->local_port = event.port;
  c->listener = listener->serial;
  ++listener->pending;
  c->policy = policy_of(listener->flags, settings_);
  c->policy.personality = listener->personality;
  c->mpa_flags = listener->flags;
  read_frame(*c, wire::kMpaHeaderBytes);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpConnected& event) {
  Connection* c = by_id(event.cookie);
  if (c == nullptr || !is_current(event.flow, event.life)) {
    bus_.write(TcpAbort{event.flow, event.life});
    return;
  }
  ConnInput input{Event::kConnected};
  input.flow = event.flow;
  input.port = event.port;
  input.segment_limit = event.emss;
  deliver(c, input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpOpenFailed& event) {
  ConnInput input{Event::kOpenFailed};
  input.failure = event.reason;
  deliver(by_id(event.cookie), input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpStreamData& event) {
  ConnInput input{Event::kStreamData};
  input.bytes = event.bytes;
  deliver(of_event(event), input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpPeerClosed& event) {
  deliver(of_event(event), ConnInput{Event::kPeerClosed});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpReset& event) {
  deliver(of_event(event), ConnInput{Event::kReset});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpClosed& event) {
  deliver(of_event(event), ConnInput{Event::kClosed});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TcpEmssChanged& event) {
  change_path(of_event(event), event.emss);
}

// The state does not change, so no row is needed. FPDUs already cut keep their size (RFC 5044 section 4.5).
template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::change_path(Connection* c, std::uint16_t segment_limit) {
  if (c == nullptr) return;
  c->segment_limit = segment_limit;
  if (!c->flow_context.rdma) return;  // write_contexts() is still to come, or nothing more is sent
  resources_.qp(c->qpn)->context.mulpdu = mulpdu_of(*c);
  resources_.publish(c->qpn);
  log(bus_, LogCode::kMulpdu, id_of(*c), mulpdu_of(*c));
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const QpFirstFpdu& event) {
  deliver(by_qp(event.qpn), ConnInput{Event::kFirstFpdu});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const QpTerminateReceived& event) {
  ConnInput input{Event::kTerminateReceived};
  input.cause = event.cause;
  input.terminate_bytes = event.header_bytes;
  input.malformed = event.malformed;
  deliver(by_qp(event.qpn), input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const QpStreamError& event) {
  ConnInput input{Event::kStreamError};
  input.cause = event.cause;
  input.terminate_bytes = event.header_bytes;
  const QpEntry* entry = resources_.qp(event.qpn);
  const bool idle = entry != nullptr && entry->context.state == QpState::kIdle;
  if (idle && entry->connection == kNoConnection) return put_in_error(event.qpn);
  deliver(by_qp(event.qpn), input);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const QpSendDrained& event) {
  deliver(by_qp(event.qpn), ConnInput{Event::kSendDrained});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const QpPeerClosed& event) {
  Connection* c = by_qp(event.qpn);
  deliver(c != nullptr ? c : session_left_by(event.qpn), ConnInput{Event::kPeerClosed});
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::on(const TimerExpired& event) {
  deliver(event.id < Capacity::kConnections ? &connections_[event.id] : nullptr, ConnInput{Event::kTimeout});
}

}  // namespace rnic::fw
