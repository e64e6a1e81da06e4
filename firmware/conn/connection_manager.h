// Brings TCP connections into RDMA mode and out of it (RFC 5044 section 7, RFC 6581,
// draft-carrier-rddp-rnic-interop-00): a table says which handler an
// event has in each state, a handler does one thing and returns the next state.
#pragma once

#include <cstdint>

#include "firmware/conn/cm_options.h"
#include "firmware/conn/connection.h"
#include "firmware/conn/listener_table.h"
#include "firmware/events/host_events.h"
#include "firmware/lib/index_pool.h"
#include "firmware/lib/logging.h"
#include "firmware/lib/personality.h"
#include "firmware/qp/resource_manager.h"
#include "model/abi/firmware_sram.h"
#include "model/wire/fpdu.h"

namespace rnic::fw {

// A connection id has this bit, so that it is never taken for a QP number; it changes when the connection's place is
// used again.
inline constexpr std::uint32_t kConnectionIdBit = 0x80000000;

template <class Bus, class Capacity = DefaultCapacity>
class ConnectionManager {
 public:
  using Status = abi::CommandStatus;
  using Resources = ResourceManager<Bus, Capacity>;
  ConnectionManager(Bus& bus, const Settings& settings, Resources& resources)
      : bus_(bus), settings_(settings), resources_(resources) {
    for (std::uint32_t& c : by_flow_) c = kNoConnection;
  }
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  // Commands. check() has no effect; perform() takes what check() found right. listen and unlisten are done at once.
  Status listen(const abi::Command& command);
  Status unlisten(const abi::Command& command);
  Status check(const abi::Command& command);
  void perform(const abi::Command& command);

  void on(const TcpAccepted& event);
  void on(const TcpConnected& event);
  void on(const TcpOpenFailed& event);
  void on(const TcpStreamData& event);
  void on(const TcpPeerClosed& event);
  void on(const TcpReset& event);
  void on(const TcpClosed& event);
  void on(const TcpEmssChanged& event);
  void on(const QpFirstFpdu& event);
  void on(const QpTerminateReceived& event);
  void on(const QpStreamError& event);
  void on(const QpSendDrained& event);
  void on(const QpPeerClosed& event);
  void on(const TimerExpired& event);
  // Ends a QP's stream, or its setup, with RFC 5040's local catastrophic error; in any case the QP ends in error.
  void fail(Qpn qpn);

  std::uint32_t connections() const { return Capacity::kConnections - free_connections_.available(); }
  std::uint32_t setups() const { return Capacity::kSetups - free_slots_.available(); }
  ConnState state(std::uint32_t index) const { return connections_[index].state; }
  static bool has_row(ConnState state, ConnEvent event);

 private:
  using State = ConnState;
  using Event = ConnEvent;
  using Handler = State (ConnectionManager::*)(Connection&, const ConnInput&);
  struct Row {
    State state;
    Event event;
    Handler handler;
  };
  static const Row kTable[];

  bool can_speak(const abi::Command& command, abi::Personality of_qp);

  // Finding connections (connection_lookup.h).
  std::uint32_t index_of(const Connection& c) const { return static_cast<std::uint32_t>(&c - connections_); }
  std::uint32_t id_of(const Connection& c) const;
  Connection* by_id(std::uint32_t id);
  Connection* by_flow(FlowId flow);
  Connection* by_qp(Qpn qpn);
  bool has_room() const;
  Connection* create(State state);
  void attach_flow(Connection& c, FlowId flow, std::uint16_t emss);
  void attach_qp(Connection& c, Qpn qpn);
  void detach_qp(Connection& c);

  // Running the table.
  void deliver(Connection* c, const ConnInput& input);
  void enter(Connection& c, State next);
  void release(Connection& c);

  // Setup (connection_setup.h).
  State send_request(Connection& c, const ConnInput& in);
  State open_failed(Connection& c, const ConnInput& in);
  State reply_octets(Connection& c, const ConnInput& in);
  State request_octets(Connection& c, const ConnInput& in);
  State octet_after_request(Connection& c, const ConnInput& in);
  State accept(Connection& c, const ConnInput& in);
  State reject(Connection& c, const ConnInput& in);
  State ask_again(Connection& c, const ConnInput& in);
  State leave(Connection& c, const ConnInput& in);
  State peer_left_setup(Connection& c, const ConnInput& in);
  State setup_reset(Connection& c, const ConnInput& in);
  State setup_timeout(Connection& c, const ConnInput& in);
  State setup_failed(Connection& c, const ConnInput& in);
  State cancel(Connection& c, const ConnInput& in);

  State conclude(Connection& c, const wire::MpaFrame& reply);
  void prepare(Connection& c, const abi::Command& connect);
  void guard(Connection& c);
  State refuse(Connection& c, const ReplyDecision& decision, Qpn qpn);
  State bad_frame(Connection& c, wire::MpaFrameError error);
  State refuse_revision(Connection& c, const wire::MpaFrame& request);
  FrameProgress take_octets(Connection& c, std::uint32_t bytes, wire::MpaFrameKind expected);
  void read_frame(Connection& c, std::uint32_t bytes);
  ByteSpan frame_octets(const Connection& c) { return bus_.sram(frame_range(c.slot, 0, c.frame_bytes)); }
  void write_frame(Connection& c, const wire::MpaFrame& frame);
  void send_frame(const Connection& c) { bus_.write(TcpStreamSend{c.flow, frame_range(c.slot, 0, c.frame_bytes)}); }
  void write_contexts(Connection& c, QpState state, StreamOptions options, std::uint16_t ird, std::uint16_t ord);
  static std::uint16_t mulpdu_of(const Connection& c) {
    return static_cast<std::uint16_t>(wire::mulpdu(c.emss, c.flow_context.tx_markers));
  }
  static void remember_depths(Connection& c, const wire::MpaFrame& frame);
  void report_peer_frame(const Connection& c, abi::EventType type, abi::ConnectStatus status,
                         const wire::MpaFrame& frame);
  void report_established(Connection& c, std::uint32_t private_bytes, std::uint32_t private_offset);
  void report_setup_failure(Connection& c, abi::ConnectStatus status);

  // From RDMA mode to the end (connection_close.h).
  State first_fpdu(Connection& c, const ConnInput& in);
  State first_fpdu_of_reply(Connection& c, const ConnInput&) { return c.state; }
  State disconnect(Connection& c, const ConnInput& in);
  State stream_error(Connection& c, const ConnInput& in);
  State terminate_received(Connection& c, const ConnInput& in);
  State drained(Connection& c, const ConnInput& in);
  State peer_closed(Connection& c, const ConnInput& in);
  State peer_closed_meanwhile(Connection& c, const ConnInput& in);
  State error_after_fin(Connection& c, const ConnInput& in);
  State stream_lost(Connection& c, const ConnInput& in);
  State stream_reset(Connection& c, const ConnInput& in);
  State stream_timeout(Connection& c, const ConnInput& in);
  State peer_closed_too(Connection& c, const ConnInput& in);
  State tcp_closed(Connection& c, const ConnInput& in);

  void set_qp_state(const Connection& c, QpState state);
  void put_in_error(Qpn qpn);
  void end_stream(Connection& c, abi::ConnectStatus status);
  State close_tcp(const Connection& c);
  State abort_tcp(Connection& c, abi::ConnectStatus status);
  void report_qp_error(const Connection& c, const ConnInput& in, abi::TerminateOrigin origin);

  Bus& bus_;
  const Settings settings_;
  Resources& resources_;
  Connection connections_[Capacity::kConnections];
  std::uint32_t by_flow_[Capacity::kFlows];
  std::uint32_t flow_epoch_[Capacity::kFlows] = {};
  IndexPool<Capacity::kConnections> free_connections_;
  IndexPool<Capacity::kSetups> free_slots_;
  ListenerTable<Capacity::kListeners> listeners_;
};

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
    {State::kWaitFirstFpdu, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kWaitFirstFpdu, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kWaitFirstFpdu, Event::kPeerClosed, &ConnectionManager::peer_closed},
    {State::kWaitFirstFpdu, Event::kReset, &ConnectionManager::stream_reset},
    {State::kWaitFirstFpdu, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kRts, Event::kFirstFpdu, &ConnectionManager::first_fpdu_of_reply},
    {State::kRts, Event::kDisconnect, &ConnectionManager::disconnect},
    {State::kRts, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kRts, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kRts, Event::kPeerClosed, &ConnectionManager::peer_closed},
    {State::kRts, Event::kReset, &ConnectionManager::stream_lost},

    {State::kDraining, Event::kSendDrained, &ConnectionManager::drained},
    {State::kDraining, Event::kStreamError, &ConnectionManager::stream_error},
    {State::kDraining, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kDraining, Event::kPeerClosed, &ConnectionManager::peer_closed_meanwhile},
    {State::kDraining, Event::kReset, &ConnectionManager::stream_lost},
    {State::kDraining, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kTerminating, Event::kSendDrained, &ConnectionManager::drained},
    {State::kTerminating, Event::kPeerClosed, &ConnectionManager::peer_closed_meanwhile},
    {State::kTerminating, Event::kReset, &ConnectionManager::stream_reset},
    {State::kTerminating, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kClosing, Event::kStreamError, &ConnectionManager::error_after_fin},
    {State::kClosing, Event::kTerminateReceived, &ConnectionManager::terminate_received},
    {State::kClosing, Event::kPeerClosed, &ConnectionManager::peer_closed_too},
    {State::kClosing, Event::kClosed, &ConnectionManager::tcp_closed},
    {State::kClosing, Event::kReset, &ConnectionManager::stream_reset},
    {State::kClosing, Event::kTimeout, &ConnectionManager::stream_timeout},

    {State::kRejected, Event::kConnect, &ConnectionManager::ask_again},
    {State::kRejected, Event::kDisconnect, &ConnectionManager::leave},
    {State::kRejected, Event::kStreamData, &ConnectionManager::octet_after_request},
    {State::kRejected, Event::kPeerClosed, &ConnectionManager::peer_left_setup},
    {State::kRejected, Event::kReset, &ConnectionManager::setup_reset},
    {State::kRejected, Event::kStreamError, &ConnectionManager::setup_failed},
};

template <class Bus, class Capacity>
bool ConnectionManager<Bus, Capacity>::has_row(State state, Event event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return true;
  }
  return false;
}

// An event without a row is a race that is over, or a mistake of the hardware's: noted, and nothing else.
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

// A state brings its time limit and gives back the slot that it does not need.
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
    listeners_.answered(c.local_port, c.listener);
    c.listener = 0;
  }
  if (next == State::kFree) release(c);
}

template <class Bus, class Capacity>
void ConnectionManager<Bus, Capacity>::release(Connection& c) {
  if (c.flow != kNoFlow) by_flow_[c.flow.v] = kNoConnection;
  const auto generation = static_cast<std::uint16_t>((c.generation + 1) & 0x7fff);
  c = {};
  c.generation = generation;
  if (!free_connections_.give_back(index_of(c))) bus_.write(Panic{PanicCode::kFreedTwice});
}

}  // namespace rnic::fw

#include "firmware/conn/connection_close.h"
#include "firmware/conn/connection_commands.h"
#include "firmware/conn/connection_lookup.h"
#include "firmware/conn/connection_setup.h"
