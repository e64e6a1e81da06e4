// Brings connections into RDMA mode and out of it, over TCP (RFC 5044 section 7, RFC 6581,
// draft-carrier-rddp-rnic-interop-00) and as DDP stream sessions over SCTP (RFC 5043 section 6). A table gives the
// handler of each event in each state. A handler does one thing and returns the next state.
// firmware/app/instantiate.h includes the definitions.
#pragma once

#include <cstdint>
#include <optional>

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

// A connection id has this bit set, so that it is never taken for a QP number. The id changes when the connection's
// entry is reused.
inline constexpr std::uint32_t kConnectionIdBit = 0x80000000;

// Stands for an SCTP stream on which no session began, until its peer has our refusal.
inline constexpr std::uint32_t kRefusedSession = kNoConnection - 1;

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
  // Of this object, per connection and its flow, in octets.
  static constexpr std::size_t bytes_per_connection() {
    return sizeof(Connection) + sizeof(*by_flow_) + sizeof(*life_) + sizeof(std::uint32_t);
  }

  // Commands. check() has no effect; perform() executes a checked command. listen and unlisten complete at once.
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
  void on(const SctpConnected& event);
  void on(const SctpOpenFailed& event);
  void on(const SctpControl& event);
  void on(const SctpAcked& event);
  void on(const SctpPeerClosed& event);
  void on(const SctpViolation& event);
  void on(const SctpStray& event);
  void on(const SctpLost& event);
  void on(const SctpMulpduChanged& event);
  void on(const QpFirstFpdu& event);
  void on(const QpTerminateReceived& event);
  void on(const QpStreamError& event);
  void on(const QpSendDrained& event);
  void on(const QpPeerClosed& event);
  void on(const TimerExpired& event);
  // Ends a QP's stream, or its setup, with RFC 5040's local catastrophic error; the QP ends in error in any case.
  void fail(Qpn qpn);

  bool listens_on_tcp() const { return tcp_listeners_ != 0; }
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

  // Finding connections (connection_lookup.h).
  std::uint32_t index_of(const Connection& c) const { return static_cast<std::uint32_t>(&c - connections_); }
  std::uint32_t id_of(const Connection& c) const;
  Connection* by_id(std::uint32_t id);
  Connection* by_flow(FlowId flow);
  bool is_current(FlowId flow, std::uint16_t life);
  template <class FlowEvent>
  Connection* of_event(const FlowEvent& e) {
    return is_current(e.flow, e.life) ? by_flow(e.flow) : nullptr;
  }
  Connection* by_qp(Qpn qpn);
  bool has_room() const;
  bool has_room(LlpId llp) const;
  Connection* create(State state);
  void make_room(const Listener* listener = nullptr);
  void attach_flow(Connection& c, FlowId flow, std::uint16_t segment_limit);
  void change_path(Connection* c, std::uint16_t segment_limit);
  void attach_qp(Connection& c, Qpn qpn);
  void detach_qp(Connection& c);

  // Running the table (connection_table.h).
  void deliver(Connection* c, const ConnInput& input);
  void enter(Connection& c, State next);
  void release(Connection& c);

  // Commands (connection_commands.h).
  bool can_speak(const abi::Command& command, abi::Personality of_qp);
  void connect_over_tcp(const abi::Command& command);
  void connect_over_sctp(const abi::Command& command);
  void prepare(Connection& c, const abi::Command& connect);
  void set_initiator(Connection& c, const abi::Command& connect);

  // Setup (connection_setup.h).
  State send_request(Connection& c, const ConnInput& in);
  State open_failed(Connection& c, const ConnInput& in);
  State reply_octets(Connection& c, const ConnInput& in);
  State request_octets(Connection& c, const ConnInput& in);
  State octet_after_request(Connection& c, const ConnInput& in);
  State octet_before_reply(Connection& c, const ConnInput& in);
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
  void guard(Connection& c);
  void enter_rdma(Connection& c);
  State refuse(Connection& c, const ReplyDecision& decision, const abi::Command& accept);
  bool send_rejection(Connection& c, const abi::Command& answer);
  State bad_frame(Connection& c, wire::MpaFrameError error);
  State refuse_revision(Connection& c, const wire::MpaFrame& request);
  FrameProgress take_octets(Connection& c, std::uint32_t bytes, wire::MpaFrameKind expected);
  void read_frame(Connection& c, std::uint32_t bytes);
  ByteSpan frame_octets(const Connection& c) { return bus_.sram(frame_range(c.slot, 0, c.frame_bytes)); }
  void write_frame(Connection& c, const wire::MpaFrame& frame);
  void exchange_frames(Connection& c);
  std::uint16_t life_of(const Connection& c) const { return life_[c.flow.v]; }
  void send_frame(const Connection& c) {
    bus_.write(TcpStreamSend{c.flow, frame_range(c.slot, 0, c.frame_bytes), life_of(c)});
  }
  void write_contexts(Connection& c, QpState state, StreamOptions options, std::uint16_t ird, std::uint16_t ord);
  static void remember_depths(Connection& c, const std::optional<wire::MpaEnhanced>& word);
  void report_peer_frame(const Connection& c, abi::EventType type, abi::ConnectStatus status,
                         const wire::MpaFrame& frame);
  void report_peer(const Connection& c, abi::EventType type, abi::ConnectStatus status, std::uint8_t flags,
                   SramRange private_data);
  void report_established(Connection& c, std::uint32_t private_bytes, std::uint32_t private_offset);
  void report_setup_failure(Connection& c, abi::ConnectStatus status);

  // DDP stream sessions: the target of an event, and its handling (session_events.h).
  StreamSession& session_of(const Connection& c) { return sessions_[c.session]; }
  void take_session(Connection& c);
  Connection* session_left_by(Qpn qpn);
  bool run(FlowId flow, const SessionActions& actions, ByteSpan private_data = {}, bool* held = nullptr);
  void send_message(FlowId flow, const wire::SessionMessage& message, ByteSpan private_data);
  void session_says(Connection& c, const SessionActions& actions, std::uint32_t bytes = 0);
  void peer_says(Connection& c, const wire::SessionDecode& decode, std::uint32_t bytes);
  void request_session(const SctpControl& event, const wire::SessionDecode& decode);
  bool is_being_refused(FlowId flow) const { return by_flow_[flow.v] == kRefusedSession; }
  void refuse_stray(FlowId flow, const SessionActions& actions);
  void refuse_session(FlowId flow, const SessionActions& actions);

  // Their setup (session_setup.h).
  State send_initiate(Connection& c, const ConnInput& in);
  State session_answered(Connection& c, const ConnInput& in);
  State session_withdrawn(Connection& c, const ConnInput& in);
  State accept_session(Connection& c, const ConnInput& in);
  State reject_session(Connection& c, const ConnInput& in);
  State session_established(Connection& c, const ConnInput& in, const SessionAction& verdict);
  State session_failed(Connection& c, const ConnInput& in, const SessionAction& verdict, SetupError error);
  static SramRange private_data_of(const SessionAction& verdict, std::uint32_t bytes);

  // Differences between the transports (transport.h).
  static std::uint16_t mulpdu_of(const Connection& c);
  static wire::TerminateCause cause_of_loss(const Connection& c);
  State close_stream(Connection& c, bool in_order);
  State drop_stream(Connection& c);
  State abort_stream(Connection& c, abi::ConnectStatus status);
  State peer_is_through(Connection& c);
  State linger(bool over) { return over ? State::kFree : State::kLingering; }

  // From RDMA mode to the end (connection_close.h).
  State first_fpdu(Connection& c, const ConnInput& in);
  State first_fpdu_of_reply(Connection& c, const ConnInput&) { return c.state; }
  State disconnect(Connection& c, const ConnInput& in);
  State stream_error(Connection& c, const ConnInput& in);
  State first_fpdu_before_error(Connection& c, const ConnInput&);
  void tell_fenced_error(Connection& c, abi::TerminateOrigin origin);
  State terminate_received(Connection& c, const ConnInput& in);
  State drained(Connection& c, const ConnInput& in);
  State peer_closed(Connection& c, const ConnInput& in);
  State peer_closed_meanwhile(Connection& c, const ConnInput& in);
  State error_after_fin(Connection& c, const ConnInput& in);
  State stream_lost(Connection& c, const ConnInput& in);
  State stream_reset(Connection& c, const ConnInput& in);
  State stream_timeout(Connection& c, const ConnInput& in);
  State peer_closed_too(Connection& c, const ConnInput& in);
  State stream_closed(Connection& c, const ConnInput& in);
  State session_broken(Connection& c, const ConnInput& in);
  State session_broken_late(Connection& c, const ConnInput& in);
  State session_lingers(Connection& c, const ConnInput& in);
  State session_abandoned(Connection& c, const ConnInput& in);

  void set_qp_state(const Connection& c, QpState state);
  void put_in_error(Qpn qpn);
  void end_stream(Connection& c, abi::ConnectStatus status);
  void report_qp_error(const Connection& c, const ConnInput& in, abi::TerminateOrigin origin);

  Bus& bus_;
  const Settings settings_;
  Resources& resources_;
  Connection connections_[Capacity::kConnections];
  std::uint32_t by_flow_[Capacity::kFlows];
  std::uint16_t life_[Capacity::kFlows] = {};  // of each flow, in its last event
  IndexPool<Capacity::kConnections> free_connections_;
  IndexPool<Capacity::kSetups> free_slots_;
  StreamSession sessions_[Capacity::kSessions];
  IndexPool<Capacity::kSessions> free_sessions_;
  ListenerTable<Capacity::kListeners> listeners_;
  std::uint32_t tcp_listeners_ = 0;
  std::uint32_t silent_ = Capacity::kConnections - 1;  // index of the last silent connection that made room
};

}  // namespace rnic::fw
