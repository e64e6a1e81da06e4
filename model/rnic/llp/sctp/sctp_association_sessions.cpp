// Operations of the firmware, and its events.
#include <cstring>
#include <utility>

#include "model/rnic/llp/sctp/sctp_association.h"

namespace rnic {

using llp::kNil;

void SctpAssociation::on_op(const SctpOp& o) {
  switch (o.kind) {
    case SctpOp::Kind::kListen:
      return void(listening_.set(o.port));
    case SctpOp::Kind::kUnlisten:
      return void(listening_.reset(o.port));
    case SctpOp::Kind::kConnect:
      return connect(o);
    default:
      break;
  }
  const std::uint32_t association = association_of(o.flow);
  const std::uint16_t stream = stream_of(o.flow);
  RNIC_CHECK(o.flow.v >= first_flow_ && association < contexts_.size());
  const bool there = contexts_[association] && stream < context(association).ddp_streams && o.life == life(o.flow);
  const bool late = there && o.kind == SctpOp::Kind::kSend && !context(association).setup.takes_host_data();
  if (!there || late) {
    ++counters_.ops_ignored;  // its association is gone, or will be, as the firmware will hear
  } else if (o.kind == SctpOp::Kind::kSend) {
    send_control(o);
  } else if (o.kind == SctpOp::Kind::kAbort) {
    abort(association, wire::SctpCause::kUserInitiatedAbort, {}, o.flow);
  } else {
    on_stream_op(o, association, stream);
    if (context(association).in_service) deliver(association, stream);
  }
}

void SctpAssociation::on_stream_op(const SctpOp& o, std::uint32_t association, std::uint16_t stream) {
  Context& c = context(association);
  const auto release = [this](std::uint32_t message) { consume(message); };
  switch (o.kind) {
    case SctpOp::Kind::kBegin:
      return c.streams.begin(stream);
    case SctpOp::Kind::kOpen:
      send_from(association, stream);
      return c.streams.open(stream);
    case SctpOp::Kind::kDiscard:
      send_from(association, stream);  // an RDMAP Terminate may follow
      return c.streams.discard(stream, release);
    case SctpOp::Kind::kEndRun:
      return c.streams.end_run(stream, release);
    case SctpOp::Kind::kRestart:
      c.streams.restart(stream, release);
      c.open = static_cast<std::uint16_t>(c.open - c.stream[stream].open);
      c.in_use = static_cast<std::uint16_t>(c.in_use - c.stream[stream].in_use);
      c.stream[stream].renew();
      grant_all(association);
      return idle_.push(FlowId{association});
    case SctpOp::Kind::kAbandon:
      ++counters_.sessions_abandoned;
      c.streams.discard(stream, release);
      c.stream[stream].abandoned = true;
      ++c.stream[stream].life;
      return idle_.push(FlowId{association});
    case SctpOp::Kind::kGiveBack:
      if (c.stream[stream].told) return;
      c.in_use = static_cast<std::uint16_t>(c.in_use - std::exchange(c.stream[stream].in_use, false));
      return idle_.push(FlowId{association});
    default:
      RNIC_CHECK(false);
  }
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

void SctpAssociation::connect(const SctpOp& o) {
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
  if (mac == nullptr) return refuse(o.cookie, TcpEvent::Reason::kTimeout);
  if (port == 0 || table_.find(key) != kNoFlow || !make_room()) {
    return refuse(o.cookie, TcpEvent::Reason::kNoResources);
  }
  association = begin(key, *mac);
  Context& c = context(association);
  c.asked.push_back(o.cookie);
  c.setup.connect({o.peer_ip, port, o.peer_port}, now(), outcome_);
  settle(association, outcome_);
}

void SctpAssociation::refuse(std::uint32_t cookie, TcpEvent::Reason reason) {
  SctpEvent e;
  e.kind = SctpEvent::Kind::kOpenFailed;
  e.reason = reason;
  e.flow = kNoFlow;
  e.cookie = cookie;
  events_.push(std::move(e));
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
  SctpEvent e;
  e.kind = SctpEvent::Kind::kConnected;
  e.flow = flow_of(association, s);
  e.life = c.stream[s].life;
  e.peer_ip = c.setup.ends().peer_ip;
  e.peer_port = c.setup.ends().peer_port;
  e.port = c.setup.ends().port;
  e.cookie = cookie;
  e.mulpdu = c.mulpdu;
  e.init_at = c.begun_at;
  events_.push(std::move(e));
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

// No one wants events of an abandoned session.
void SctpAssociation::tell(SctpEvent::Kind kind, FlowId flow, bool terminate) {
  if (context(association_of(flow)).stream[stream_of(flow)].abandoned) return;
  SctpEvent e;
  e.kind = kind;
  e.flow = flow;
  e.life = life(flow);
  e.terminate = terminate;
  events_.push(std::move(e));
}

void SctpAssociation::tell_control(std::uint32_t association, std::uint32_t message) {
  const Context& c = context(association);
  const sctp::ReceivedMessage& m = messages_[message];
  if (c.stream[m.stream].abandoned) return consume(message);
  use(association, m.stream);
  SctpEvent e;
  e.kind = SctpEvent::Kind::kControl;
  e.flow = flow_of(association, m.stream);
  e.life = c.stream[m.stream].life;
  e.peer_ip = c.setup.ends().peer_ip;
  e.peer_port = c.setup.ends().peer_port;
  e.port = c.setup.ends().port;
  e.mulpdu = c.mulpdu;
  e.init_at = now();
  e.bytes = static_cast<std::uint32_t>(m.bytes - wire::kDdpSsnBytes);
  e.data = pool_.take();
  std::memcpy(e.data->bytes(), m.data + wire::kDdpSsnBytes, e.bytes);
  events_.push(std::move(e));
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
  if (s.in_use) tell(SctpEvent::Kind::kPeerClosed, end.flow);
}

}  // namespace rnic
