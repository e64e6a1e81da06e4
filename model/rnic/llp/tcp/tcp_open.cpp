// Opening connections: RFC 9293 section 3.10.7.1 to 3.10.7.3.
#include <algorithm>

#include "model/rnic/llp/tcp/tcp_connection.h"

namespace rnic {

using tcp::RxCommand;
using tcp::RxReport;
using tcp::TxCommand;
using wire::TcpHeader;

namespace {

constexpr std::uint16_t kDefaultMss = 536;  // of a peer that sent no option (RFC 9293 section 3.7.1)
constexpr std::uint16_t kLeastMss = 64;
constexpr std::uint8_t kMaxScale = 14;  // RFC 7323 section 2.3

}  // namespace

void TcpConnection::open(const fw::TcpOpen& o) {
  const wire::MacAddress* mac = station_.mac_of(wire::Ipv4Address{o.peer_ip});
  const std::uint16_t port = o.port != 0 ? o.port : ephemeral_port(o.peer_ip, o.peer_port);
  const llp::FlowKey key{o.peer_ip, o.peer_port, port};
  if (mac == nullptr || free_.empty() || port == 0 || table_.find(key) != kNoFlow) {
    const auto reason = mac == nullptr ? fw::OpenFailure::kTimeout : fw::OpenFailure::kNoResources;
    if (event->can_push()) return event->push(LlpEvent(fw::TcpOpenFailed{o.cookie, reason}));
    return failed_opens_.push({o.cookie, reason});
  }
  const FlowId flow = take_flow(key);
  Connection& c = connections_[flow.v];
  c.state = State::kSynSent;
  c.active = true;
  c.syn_at = now();
  c.cookie = o.cookie;
  c.peer_mac = *mac;
  TxCommand t;
  t.kind = TxCommand::Kind::kOpen;
  t.flow = flow;
  t.key = key;
  t.peer_mac = *mac;
  t.seq = c.iss;
  to_tx->push(std::move(t));
  RxCommand r;
  r.kind = RxCommand::Kind::kAwaitSyn;
  r.flow = flow;
  r.key = key;
  to_rx->push(std::move(r));
}

void TcpConnection::accept(const RxReport& s) {
  const FlowId flow = take_flow(s.key);
  Connection& c = connections_[flow.v];
  c.state = State::kSynReceived;
  c.syn_at = now();
  c.peer_mac = s.peer_mac;
  synchronize(flow, s);
}

// Answers a SYN with SYN and ACK; the receiver is ready before the peer can see it.
void TcpConnection::synchronize(FlowId flow, const RxReport& s) {
  Connection& c = connections_[flow.v];
  const tcp::Agreed agreed = agree(s);
  c.emss = agreed.emss;
  TxCommand t;
  t.kind = TxCommand::Kind::kOpen;
  t.flow = flow;
  t.key = s.key;
  t.peer_mac = c.peer_mac;
  t.seq = c.iss;
  t.with_ack = true;
  t.rcv_nxt = s.seq + 1;
  t.peer_window = s.window;
  t.agreed = agreed;
  to_tx->push(std::move(t));
  RxCommand r;
  r.kind = RxCommand::Kind::kOpen;
  r.flow = flow;
  r.key = s.key;
  r.rcv_nxt = s.seq + 1;
  r.agreed = agreed;
  r.passive = !c.active;
  r.snd_una = c.iss;
  r.peer_window = s.window;
  to_rx->push(std::move(r));
}

// RFC 9293 section 3.10.7.1: the RST that the peer accepts as an answer to this segment.
void TcpConnection::refuse(const RxReport& s) {
  ++counters_.refused;
  TxCommand t;
  t.kind = TxCommand::Kind::kRefuse;
  t.key = s.key;
  t.peer_mac = s.peer_mac;
  if (s.flags & TcpHeader::kAck) {
    t.seq = s.ack;
  } else {
    t.with_ack = true;
    t.rcv_nxt = s.seq + s.bytes;
  }
  to_tx->push(std::move(t));
}

void TcpConnection::established(FlowId flow) {
  Connection& c = connections_[flow.v];
  c.state = State::kEstablished;
  ++(c.active ? counters_.opened : counters_.accepted);
  tell_open(flow);
  if (c.peer_closed) late_fins_.push(flow);
}

// RFC 9293 section 3.10.7: a segment of a connection that is closed, listening or awaits the peer's SYN, or one that
// does not acknowledge ours in SYN-RECEIVED.
void TcpConnection::on_segment(const RxReport& s) {
  const bool has_ack = s.flags & TcpHeader::kAck, reset = s.flags & TcpHeader::kRst;
  const FlowId known = table_.find(s.key);
  if (known != kNoFlow) {
    const Connection& c = connections_[known.v];
    if (c.state == State::kSynSent) return on_segment_in_syn_sent(s);
    // tcp_rx may not have known the flow yet: a repeated SYN is answered by our retransmission.
    if (c.state == State::kSynReceived && has_ack && !reset && s.ack != c.iss + 1) refuse(s);
    return;
  }
  if (reset) return;
  if (has_ack || !listening_.test(s.key.port)) return refuse(s);
  if (!(s.flags & TcpHeader::kSyn)) return;
  if (free_.empty()) {
    ++counters_.no_flow;
    return;
  }
  accept(s);
}

// RFC 9293 section 3.10.7.3.
void TcpConnection::on_segment_in_syn_sent(const RxReport& s) {
  const FlowId flow = table_.find(s.key);
  Connection& c = connections_[flow.v];
  const bool has_ack = s.flags & TcpHeader::kAck;
  if (has_ack && s.ack != c.iss + 1) {
    if (!(s.flags & TcpHeader::kRst)) refuse(s);
    return;
  }
  if (s.flags & TcpHeader::kRst) {
    if (has_ack) lost(flow, fw::OpenFailure::kRefused);
    return;
  }
  if (!(s.flags & TcpHeader::kSyn)) return;
  const tcp::Agreed agreed = agree(s);
  c.emss = agreed.emss;
  if (!has_ack) {
    c.state = State::kSynReceived;  // both ends opened at once
    return synchronize(flow, s);
  }
  TxCommand t;
  t.kind = TxCommand::Kind::kEstablish;
  t.flow = flow;
  t.ack = s.ack;
  t.rcv_nxt = s.seq + 1;
  t.peer_window = s.window;
  t.agreed = agreed;
  to_tx->push(std::move(t));
  RxCommand r;
  r.flow = flow;
  r.key = s.key;
  r.rcv_nxt = s.seq + 1;
  r.agreed = agreed;
  r.established = true;
  r.snd_una = s.ack;
  r.peer_window = s.window;
  to_rx->push(std::move(r));
  established(flow);
}

// The peer's SYN against our options. It agrees to ECN by both flags in a SYN, by ECE alone in a SYN and ACK (RFC 3168
// section 6.1.1).
tcp::Agreed TcpConnection::agree(const RxReport& syn) const {
  const wire::TcpOptions& o = syn.options;
  tcp::Agreed a;
  a.timestamps = config_.timestamps && o.timestamps.has_value();
  a.ts_recent = a.timestamps ? o.timestamps->value : 0;
  a.emss = std::min(config_.mss(), std::max(kLeastMss, o.mss.value_or(kDefaultMss)));
  if (a.timestamps) a.emss = static_cast<std::uint16_t>(a.emss - wire::TcpOptions::kTimestampsSpace);
  a.scaling = o.window_scale.has_value();
  a.scale = std::min(o.window_scale.value_or(0), kMaxScale);
  a.sack = config_.sack && o.sack_permitted;
  const unsigned ecn = syn.flags & (TcpHeader::kEce | TcpHeader::kCwr);
  const unsigned wanted = syn.flags & TcpHeader::kAck ? TcpHeader::kEce : TcpHeader::kEce | TcpHeader::kCwr;
  a.ecn = config_.wants_ecn() && ecn == wanted;
  return a;
}

FlowId TcpConnection::take_flow(const llp::FlowKey& key) {
  const FlowId flow = free_.pop();
  in_use_.rise();
  table_.insert(flow, key);
  hashed_.rise();
  if (flow_cache_ != nullptr) flow_cache_->begin(flow.v);
  connections_[flow.v].iss = initial_sequence_number(key);
  return flow;
}

// RFC 6528 section 3: a clock of 4 us, and an offset for these four.
std::uint32_t TcpConnection::initial_sequence_number(const llp::FlowKey& key) const {
  constexpr std::uint64_t kClockPs = 4'000'000;
  std::uint8_t octets[12];
  store_be32(octets, station_.ip.v);
  store_be32(octets + 4, key.peer_ip);
  store_be16(octets + 8, key.port);
  store_be16(octets + 10, key.peer_port);
  return static_cast<std::uint32_t>(clock().now_ps() / kClockPs + siphash(isn_key_, {octets, sizeof octets}));
}

// 0 if all are in use with this peer.
std::uint16_t TcpConnection::ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port) {
  for (unsigned tries = 0; tries < 65536u - kFirstEphemeral; ++tries) {
    const std::uint16_t port = next_port_;
    next_port_ = next_port_ == 0xffff ? kFirstEphemeral : static_cast<std::uint16_t>(next_port_ + 1);
    if (!listening_.test(port) && table_.find({peer_ip, peer_port, port}) == kNoFlow) return port;
  }
  return 0;
}

}  // namespace rnic
