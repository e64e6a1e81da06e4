// One association at work: its context among what all of a chip share. Made for an input, and gone after it. See
// sctp_association.md.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "model/rnic/llp/sctp/engine.h"

namespace rnic::sctp {

class Association {
 public:
  Association(Engine& engine, AssociationId id) : e_(engine), id_(id), c_(engine.context(id)) {}

  // ---- Set-up and end (association.cpp)

  // With a peer's cookie, or to connect to it. Then the number is in use.
  static AssociationId begin(Engine& e, const llp::FlowKey& key, const wire::MacAddress& mac);
  void accept(const Cookie& cookie, const Received& packet, const BufferRef& octets);
  void connect(const Ends& ends, std::uint32_t cookie);
  void receive(const Received& packet, const BufferRef& octets);
  void expired(std::uint32_t timer);
  // Without the events about `except`, whose firmware wanted it.
  void abort(wire::SctpCause cause, ByteSpan information = {}, FlowId except = kNoFlow);
  // It may have no session any more.
  void look_at_sessions();
  // It has none, and nobody waits for one.
  bool is_idle() const { return c_.setup.takes_host_data() && c_.in_use == 0 && c_.asked.empty(); }

  // ---- Streams and sessions (association_sessions.cpp)

  // For a connect. It waits if the association is not up yet.
  void want_stream(std::uint32_t cookie);
  std::uint32_t free_streams() const;
  void on_stream_op(std::uint16_t stream, fw::SctpStreamAction action);
  // The peer's session Terminate has passed all stages that segments pass.
  void on_ended(std::uint16_t stream, bool told);

  // ---- Receiving (association_rx.cpp)

  void on_path_mtu(const SctpPacket& told);

  // ---- Sending (association_tx.cpp)

  void send_segment(Ulpdu&& u);
  void send_control(std::uint16_t stream, ByteSpan message);
  // What is to be sent now, if anything (next_contents).
  std::optional<SctpPacket> next_packet();
  // The octets that a stream may be given.
  std::uint32_t grantable(const StreamContext& s) const;

 private:
  // Set-up and end.
  void settle(const Outcome& outcome, const BufferRef& packet = {});
  void on_setup_event(const SetupEvent& event);
  void on_up();
  void shut_down();
  void forget_streams(FlowId except);
  void end(fw::OpenFailure reason, FlowId except = kNoFlow);
  void answer(const Outcome& outcome) { e_.answer(outcome, c_.setup.ends().peer_ip, c_.peer_mac, e_.owner(id_)); }
  void set_timers();
  void show_windows();
  void set_timer(std::uint32_t which, Cycle at);
  DataProgress progress() const { return {c_.receiver.cumulative_tsn(), c_.sender.idle() && c_.backlog.empty()}; }

  // Streams and sessions.
  FlowId flow_of(std::uint32_t stream) const { return e_.flow_of(id_, stream); }
  bool has_session() const;
  void give_stream(std::uint32_t cookie);
  void use(std::uint16_t stream);
  void send_from(std::uint16_t stream);
  void close_streams();
  void close(std::uint16_t stream);
  // To the firmware. The flow and its life are filled in. No one wants events of an abandoned session.
  template <class Event>
  void tell(std::uint16_t stream, Event event = {}, Cycle begun_at = 0, BufferRef octets = {}) {
    const StreamContext& s = c_.stream[stream];
    if (s.abandoned) return;
    event.flow = flow_of(stream);
    event.life = s.life;
    e_.events.push(LlpEvent(event, begun_at, std::move(octets)));
  }

  // Receiving.
  void on_chunks(const Outcome& outcome, const BufferRef& packet);
  // Returns the unknown stream, if the chunk names one.
  std::optional<std::uint16_t> on_data(const BufferRef& packet, const PassedChunk& chunk);
  void on_message(const BufferRef& packet, const ReceivedData& data);
  ReceivedId keep(const BufferRef& packet, const ReceivedData& data);
  void deliver(std::uint16_t stream);
  void tell_control(ReceivedId message);

  // Sending.
  void queue(SentMessage&& message);
  unsigned forget_sent();
  bool push(SentId message);
  void push_backlog();
  void on_sack(const PassedChunk& chunk);
  void take_released();
  SctpPacket in_place(SentMessage& m, const DataChunk& chunk, std::uint32_t sack);
  SctpPacket copied(std::uint32_t sack);
  void write_sack(wire::SctpWriter& to, std::uint32_t sack);
  void grant_all();
  std::uint32_t share() const;

  Engine& e_;
  const AssociationId id_;
  AssociationContext& c_;
};

}  // namespace rnic::sctp
