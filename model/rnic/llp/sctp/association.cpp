// Set-up and end of an association, and its timers.
#include "model/rnic/llp/sctp/association.h"

#include <algorithm>

#include "model/wire/ddp_session.h"

namespace rnic::sctp {

using State = Setup::State;

AssociationId Association::begin(Engine& e, const llp::FlowKey& key, const wire::MacAddress& mac) {
  const AssociationId id = e.free.pop();
  if (!e.contexts[id.v]) {
    e.contexts[id.v] = std::make_unique<AssociationContext>(e.endpoint, e.sender_settings, e.stream_limits);
  }
  AssociationContext& c = e.context(id);
  e.table.insert(id, key);
  c.peer_mac = mac;
  c.in_service = true;
  e.in_service.rise();
  c.begun_at = c.idle_at = e.now();
  ++c.life;
  return id;
}

void Association::accept(const Cookie& cookie, const Received& packet, const BufferRef& octets) {
  c_.setup.accept(cookie, packet, e_.now(), e_.outcome);
  settle(e_.outcome, octets);
}

void Association::connect(const Ends& ends, std::uint32_t cookie) {
  c_.asked.push_back(cookie);
  c_.setup.connect(ends, e_.now(), e_.outcome);
  settle(e_.outcome);
}

void Association::receive(const Received& packet, const BufferRef& octets) {
  c_.setup.receive(packet, e_.now(), e_.outcome);
  settle(e_.outcome, octets);
}

// Carries out the set-up's result of an input. During a shutdown, more may follow from what arrived.
void Association::settle(const Outcome& outcome, const BufferRef& packet) {
  const std::uint32_t peer_ip = c_.setup.ends().peer_ip;
  const RequestId of = e_.owner(id_);
  e_.charge(Cycle{outcome.macs} * e_.config.mac_cycles);
  for (std::uint32_t t = 0; t < kSetupTimers; ++t) {
    if (const auto& at = outcome.timer(static_cast<SetupTimer>(t)); at) set_timer(t, *at);
  }
  for (std::size_t i = 0; i < outcome.events(); ++i) on_setup_event(outcome.event(i));
  if (outcome.rtt) c_.sender.on_answer(*outcome.rtt);
  if (outcome.chunks() != 0 && c_.in_service) on_chunks(outcome, packet);
  e_.answer(outcome, peer_ip, c_.peer_mac, of);
  if (!c_.in_service) return;

  const State state = c_.setup.state();
  if (state == State::kShutdownSent) {
    c_.receiver.set_mode(DataReceiver::Mode::kShutdownSent);
    if (!outcome.packet().empty()) c_.receiver.shutdown_sent();
  } else if (state == State::kShutdownReceived || state == State::kShutdownAckSent) {
    c_.receiver.set_mode(DataReceiver::Mode::kDrop);
  }
  const bool closing = state == State::kShutdownPending || state == State::kShutdownReceived;
  if (&outcome == &e_.second || !(closing || state == State::kShutdownSent)) return;
  c_.setup.proceed(progress(), e_.now(), e_.second);
  settle(e_.second);
}

void Association::on_setup_event(const SetupEvent& event) {
  switch (event.kind) {
    case SetupEvent::Kind::kUp:
      ++(c_.setup.initiator() ? e_.counters.opened : e_.counters.accepted);
      return on_up();
    case SetupEvent::Kind::kRestarted:
      ++e_.counters.restarted;
      forget_streams(kNoFlow);
      return on_up();
    case SetupEvent::Kind::kShutDown:
      ++e_.counters.shut_down;
      return end(fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kAborted:
      ++e_.counters.failed;
      return end(fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kFailed:
      ++e_.counters.failed;
      return end(event.cause == 0 ? fw::OpenFailure::kTimeout : fw::OpenFailure::kRefused);
    case SetupEvent::Kind::kPeerShutdown:
      return close_streams();  // queued data is still sent
    case SetupEvent::Kind::kPeerError:
      ++e_.counters.peer_errors;
      return;
  }
}

void Association::on_up() {
  const Terms& terms = c_.setup.terms();
  c_.sender.open(terms.own_tsn, terms.peer_window, e_.mtu, e_.now());
  c_.receiver.start(e_.receiver_settings, e_.fragments, terms.peer_tsn, terms.inbound);
  c_.receiver.set_mode(DataReceiver::Mode::kTake);
  c_.mulpdu = static_cast<std::uint16_t>(wire::sctp_mulpdu(e_.mtu, wire::Ipv4Header::kBytes, e_.config.bundle_reserve));
  c_.ddp_streams = std::min(terms.ddp_streams(), e_.stream_limits.streams);
  for (const std::uint32_t cookie : std::exchange(c_.asked, {})) {
    if (free_streams() != 0) give_stream(cookie);
    else e_.refuse(cookie, fw::OpenFailure::kNoResources);
  }
  e_.idle.push(id_);
}

void Association::shut_down() {
  c_.setup.shutdown(progress(), e_.now(), e_.outcome);
  settle(e_.outcome);
}

// Everything queued for the peer, and kept from it, is dropped, except delivered messages that wait for the pipeline:
// they have been acknowledged. Sessions are lost, except that of `except`.
void Association::forget_streams(FlowId except) {
  constexpr unsigned kAtOnce = 16;  // release_cycles
  if (has_session()) e_.delivery.send_fence(id_);
  unsigned released = forget_sent();
  c_.streams.reset([&](ReceivedId message) { e_.delivery.give_back(message), ++released; });
  e_.charge(Cycle{(released + kAtOnce - 1) / kAtOnce} * e_.config.release_cycles);
  c_.receiver.clear(e_.fragments);
  ++c_.life;
  for (std::uint16_t s = 0; s < c_.stream.size(); ++s) {
    if (c_.stream[s].in_use && flow_of(s) != except) tell<fw::SctpLost>(s);
    if (c_.stream[s].open) close(s);
    c_.stream[s].renew();
  }
  c_.in_use = c_.open = c_.ddp_streams = 0;
}

void Association::end(fw::OpenFailure reason, FlowId except) {
  forget_streams(except);
  for (const std::uint32_t cookie : std::exchange(c_.asked, {})) e_.refuse(cookie, reason);
  c_.in_service = false;
  e_.in_service.fall();
  for (std::uint32_t t = 0; t < kTimers; ++t) e_.timers.stop(e_.timer(id_, t));
  e_.table.erase(id_);
  e_.free.push(id_);
}

void Association::abort(wire::SctpCause cause, ByteSpan information, FlowId except) {
  c_.setup.abort(cause, information, e_.second);
  answer(e_.second);
  ++e_.counters.failed;
  end(fw::OpenFailure::kRefused, except);
}

// RFC 5040 section 7: when all streams are down, the side that opened the association shuts it down. If it does not,
// this side does.
void Association::look_at_sessions() {
  if (!c_.in_service || !c_.asked.empty() || has_session() || !c_.setup.takes_host_data()) return;
  if (c_.in_use != 0) return abort(wire::SctpCause::kUserInitiatedAbort);  // abandoned ones
  if (c_.setup.initiator()) return shut_down();
  c_.idle_at = e_.now();
  if (e_.idle_limit != kNever) set_timer(kIdle, e_.now() + e_.idle_limit);
}

// ---- Timers

void Association::expired(std::uint32_t timer) {
  switch (timer) {
    case kSackDelay:
      c_.receiver.on_delay_over(e_.now());
      break;
    case kT3:
      ++e_.counters.timeouts;
      if (c_.sender.on_timer(e_.now()) == TimerOutcome::kFailed) return abort(wire::SctpCause::kUserInitiatedAbort);
      break;
    case kIdle:
      if (c_.in_use != 0 || !c_.setup.takes_host_data()) return;
      ++e_.counters.idle_ended;
      return shut_down();
    default:
      c_.setup.expired(static_cast<SetupTimer>(timer), e_.now(), e_.outcome);
      return settle(e_.outcome);
  }
  e_.sends.push(id_);
  set_timers();
}

// Of the sender and the receiver, after anything that may have moved them.
void Association::set_timers() {
  set_timer(kT3, c_.sender.deadline());
  set_timer(kSackDelay, c_.receiver.deadline());
  if (e_.windows.on()) show_windows();
}

void Association::set_timer(std::uint32_t which, Cycle at) { e_.timers.start(e_.timer(id_, which), at); }

}  // namespace rnic::sctp
