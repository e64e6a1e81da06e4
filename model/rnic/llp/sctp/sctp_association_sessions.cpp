// Operations of the firmware, and its events.
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "model/common/overloaded.h"
#include "model/rnic/llp/sctp/sctp_association.h"

namespace rnic {

using llp::kNil;

void SctpAssociation::on_op(const LlpOp& operation) {
  operation.visit(Overloaded{
      [&](const fw::SctpListen& o) { listening_.set(o.port); },
      [&](const fw::SctpUnlisten& o) { listening_.reset(o.port); },
      [&](const fw::SctpConnect& o) { connect(o); },
      [&](const fw::SctpSend& o) {
        if (is_current(o)) send_control(o, operation.data);
      },
      [&](const fw::SctpStream& o) {
        if (!is_current(o)) return;
        const std::uint32_t association = association_of(o.flow);
        if (o.action == fw::SctpStreamAction::kAbort) {
          return abort(association, wire::SctpCause::kUserInitiatedAbort, {}, o.flow);
        }
        on_stream_op(o, association, stream_of(o.flow));
        if (context(association).in_service) deliver(association, stream_of(o.flow));
      },
      [](const auto& other) { RNIC_CHECK_MSG(false, std::string(other.kName) + " is not for SCTP"); },
  });
}

// An operation for an earlier life of the flow has no effect, nor has a message after the host's last one: the
// association is gone, or will be, as the firmware will hear.
template <class Op>
bool SctpAssociation::is_current(const Op& o) {
  const std::uint32_t association = association_of(o.flow);
  RNIC_CHECK(o.flow.v >= first_flow_ && association < contexts_.size());
  const bool there = contexts_[association] && stream_of(o.flow) < context(association).ddp_streams;
  const bool current = there && o.life == life(o.flow) &&
                       (!std::is_same_v<Op, fw::SctpSend> || context(association).setup.takes_host_data());
  if (!current) ++counters_.ops_ignored;
  return current;
}

void SctpAssociation::on_stream_op(const fw::SctpStream& o, std::uint32_t association, std::uint16_t stream) {
  using Action = fw::SctpStreamAction;
  Context& c = context(association);
  const auto release = [this](std::uint32_t message) { consume(message); };
  switch (o.action) {
    case Action::kBegin:
      return c.streams.begin(stream);
    case Action::kOpen:
      send_from(association, stream);
      return c.streams.open(stream);
    case Action::kDiscard:
      send_from(association, stream);  // an RDMAP Terminate may follow
      return c.streams.discard(stream, release);
    case Action::kEndRun:
      return c.streams.end_run(stream, release);
    case Action::kRestart:
      c.streams.restart(stream, release);
      c.open = static_cast<std::uint16_t>(c.open - c.stream[stream].open);
      c.in_use = static_cast<std::uint16_t>(c.in_use - c.stream[stream].in_use);
      c.stream[stream].renew();
      grant_all(association);
      return idle_.push(FlowId{association});
    case Action::kAbandon:
      ++counters_.sessions_abandoned;
      c.streams.discard(stream, release);
      c.stream[stream].abandoned = true;
      ++c.stream[stream].life;
      return idle_.push(FlowId{association});
    case Action::kGiveBack:
      if (c.stream[stream].told) return;
      c.in_use = static_cast<std::uint16_t>(c.in_use - std::exchange(c.stream[stream].in_use, false));
      return idle_.push(FlowId{association});
    case Action::kAbort:
      break;
  }
  RNIC_CHECK_MSG(false, "an action on a stream that does not exist");
}

std::uint16_t SctpAssociation::life(FlowId flow) const {
  const auto& c = contexts_[association_of(flow)];
  return c ? c->stream[stream_of(flow)].life : std::uint16_t{0};
}

// The segmenter may send on it.
void SctpAssociation::send_from(std::uint32_t association, std::uint16_t stream) {
  Context& c = context(association);
  if (c.stream[stream].open || !c.setup.takes_host_data()) return;
  c.stream[stream].open = true;
  ++c.open;
  credits_.push(FlowId{association * config_.streams + stream});
}

// The peer shuts the association down: nothing new is sent on it.
void SctpAssociation::close_streams(std::uint32_t association) {
  Context& c = context(association);
  for (sctp::StreamContext& s : c.stream) s.open = false;
  c.open = 0;
}

// ---- Connects

void SctpAssociation::connect(const fw::SctpConnect& o) {
  std::uint32_t association = association_to(o.peer_ip, o.peer_port);
  if (association != kNil) {
    Context& c = context(association);
    if (c.ddp_streams != 0) give_stream(association, o.cookie);
    else c.asked.push_back(o.cookie);
    return;
  }
  const wire::MacAddress* const mac = station_.mac_of(wire::Ipv4Address{o.peer_ip});
  const std::uint16_t port = o.port != 0 ? o.port : ephemeral_port(o.peer_ip, o.peer_port);
  const llp::FlowKey key{o.peer_ip, o.peer_port, port};
  if (mac == nullptr) return refuse(o.cookie, fw::OpenFailure::kTimeout);
  if (port == 0 || table_.find(key) != kNoFlow || !make_room()) {
    return refuse(o.cookie, fw::OpenFailure::kNoResources);
  }
  association = begin(key, *mac);
  Context& c = context(association);
  c.asked.push_back(o.cookie);
  c.setup.connect({o.peer_ip, port, o.peer_port}, now(), outcome_);
  settle(association, outcome_);
}

void SctpAssociation::refuse(std::uint32_t cookie, fw::OpenFailure reason) {
  events_.push(LlpEvent(fw::SctpOpenFailed{cookie, reason}));
}

// An association that exists or is being opened, with a free stream for this side.
std::uint32_t SctpAssociation::association_to(std::uint32_t peer_ip, std::uint16_t peer_port) const {
  for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
    if (!contexts_[i] || !contexts_[i]->in_service) continue;
    const Context& c = *contexts_[i];
    const sctp::Ends& ends = c.setup.ends();
    if (ends.peer_ip != peer_ip || ends.peer_port != peer_port) continue;
    if (c.ddp_streams != 0 && !c.setup.takes_host_data()) continue;  // it ends
    if (free_streams(c) != 0) return i;
  }
  return kNil;
}

// Initiates that cross on one stream end both sessions. To avoid that, the opener of the association takes the even
// ids, the other side the odd ones.
std::uint32_t SctpAssociation::free_streams(const Context& c) const {
  const std::uint32_t ids = c.ddp_streams != 0 ? c.ddp_streams : config_.streams;
  std::uint32_t free = 0;
  for (std::uint32_t s = c.setup.initiator() ? 0 : 1; s < ids; s += 2) free += !c.stream[s].in_use;
  const auto asked = static_cast<std::uint32_t>(c.asked.size());
  return free > asked ? free - asked : 0;
}

void SctpAssociation::give_stream(std::uint32_t association, std::uint32_t cookie) {
  Context& c = context(association);
  std::uint16_t s = c.setup.initiator() ? 0 : 1;
  while (c.stream[s].in_use) s = static_cast<std::uint16_t>(s + 2);
  ++c.in_use;
  c.stream[s].in_use = true;
  tell(flow_of(association, s), fw::SctpConnected{{}, cookie, c.setup.ends().port, c.mulpdu}, c.begun_at);
}

// By the peer: the firmware gets an event, and returns the stream when it no longer needs it.
void SctpAssociation::use(std::uint32_t association, std::uint16_t stream) {
  Context& c = context(association);
  c.in_use = static_cast<std::uint16_t>(c.in_use + !c.stream[stream].in_use);
  c.stream[stream].in_use = c.stream[stream].told = true;
}

std::uint16_t SctpAssociation::ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port) {
  for (unsigned tries = 0; tries < 65536u - kFirstEphemeral; ++tries) {
    const std::uint16_t port = next_port_;
    next_port_ = next_port_ == 0xffff ? kFirstEphemeral : static_cast<std::uint16_t>(next_port_ + 1);
    if (!listening_.test(port) && table_.find({peer_ip, peer_port, port}) == kNoFlow) return port;
  }
  return 0;
}

// ---- Events

void SctpAssociation::tell_control(std::uint32_t association, std::uint32_t message) {
  const Context& c = context(association);
  const sctp::ReceivedMessage& m = messages_[message];
  if (c.stream[m.stream].abandoned) return consume(message);
  use(association, m.stream);
  const auto bytes = static_cast<std::uint16_t>(m.bytes - wire::kDdpSsnBytes);
  BufferRef octets = pool_.take();
  std::memcpy(octets->bytes(), m.data + wire::kDdpSsnBytes, bytes);
  const sctp::Ends& ends = c.setup.ends();
  const fw::SctpControl control{{}, ends.peer_ip, ends.peer_port, ends.port, c.mulpdu, bytes};
  tell(flow_of(association, m.stream), control, now(), std::move(octets));
  consume(message);
}

// The peer's session Terminate has passed all stages that segments pass. The Terminate of a session that was given up
// meanwhile says nothing about the one that has begun since.
void SctpAssociation::on_ended(StreamEnded end) {
  if (end.flow == fence_flow_) {
    --fences_;
    return;
  }
  const std::uint32_t association = association_of(end.flow);
  if (!contexts_[association]) return;
  sctp::StreamContext& s = context(association).stream[stream_of(end.flow)];
  if (s.old_ends != 0) {
    --s.old_ends;
    return;
  }
  if (!std::exchange(s.ending, false) || end.told) return;
  if (s.in_use) tell<fw::SctpPeerClosed>(end.flow);
}

}  // namespace rnic
