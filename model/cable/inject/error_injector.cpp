#include "model/cable/inject/error_injector.h"

#include <algorithm>
#include <utility>

#include "model/cable/sctp_frame.h"

namespace rnic::inject {
namespace {

constexpr std::uint32_t kLongestFrame = 65536;

}  // namespace

ErrorInjector::ErrorInjector(sc_core::sc_module_name nm, std::vector<Injection> injections)
    : sc_module(nm),
      injections_(std::move(injections)),
      ways_{std::make_unique<Way>(*this, 0, "in0", "out0"), std::make_unique<Way>(*this, 1, "in1", "out1")},
      copies_(kLongestFrame) {
  std::vector<std::pair<unsigned, std::uint16_t>> ports;  // listener's end, port
  const auto port_of = [](const Injection& i) { return std::pair(i.by_listener ? i.node : 1 - i.node, i.port); };
  for (const Injection& i : injections_) {
    orders_.push_back({&i});
    if (std::find(ports.begin(), ports.end(), port_of(i)) == ports.end()) ports.push_back(port_of(i));
  }
  for (const auto& [listener, port] : ports) {
    Connection c;
    c.port = port;
    c.listener = listener;
    for (unsigned end = 0; end < 2; ++end) {
      std::vector<Order*> orders;
      for (Order& o : orders_) {
        if (port_of(*o.injection) == std::pair(listener, port) && o.injection->node == end) orders.push_back(&o);
      }
      const auto startup = end == listener ? wire::MpaFrameKind::kReply : wire::MpaFrameKind::kRequest;
      c.sides[end] = std::make_unique<Side>(startup, orders);
    }
    connections_.push_back(std::move(c));
  }
}

EthernetPort ErrorInjector::before(unsigned end, EthernetPort port) {
  Way& way = *ways_[end];
  port.out.socket.bind(way.socket);
  return {way.out, port.in};
}

std::vector<std::string> ErrorInjector::failures() const {
  std::vector<std::string> list;
  for (const Order& o : orders_) {
    if (o.done) continue;
    list.push_back(o.injection->name + ": " + (o.failure.empty() ? "its message was not sent" : o.failure));
  }
  return list;
}

void ErrorInjector::pass(Way& way, Frame frame, std::uint64_t at_ps) {
  bend(way.end, frame);
  if (tap_ != nullptr) tell_done(way.end, frame, at_ps);
  way.out.pass_on(std::move(frame), at_ps);
}

void ErrorInjector::tell_done(unsigned end, const Frame& frame, std::uint64_t at_ps) {
  for (Order& order : orders_) {
    if (order.what.empty() || std::exchange(order.told, true)) continue;
    CableEvent e;
    e.kind = CableEvent::Kind::kInjected;
    e.direction = end;
    e.frame = &frame;
    e.ps = at_ps;
    e.text = order.what.c_str();
    tap_->happened(e);
  }
}

ErrorInjector::Connection* ErrorInjector::connection_of(unsigned end, std::uint16_t src_port, std::uint16_t dst_port) {
  for (Connection& c : connections_) {
    const bool by_listener = end == c.listener;
    if ((by_listener ? src_port : dst_port) != c.port) continue;
    const std::uint16_t peer_port = by_listener ? dst_port : src_port;
    if (c.peer_port == 0 && !by_listener) c.peer_port = peer_port;
    if (c.peer_port == peer_port) return &c;
  }
  return nullptr;
}

// The stream position of `seq`, which is within 2^31 octets of the newest one.
std::uint64_t ErrorInjector::place(const Side& side, std::uint32_t seq) {
  const auto newest = static_cast<std::uint32_t>(*side.first + side.newest);
  const std::int64_t at = static_cast<std::int64_t>(side.newest) + wire::seq_diff(seq, newest);
  RNIC_CHECK(at >= 0);
  return static_cast<std::uint64_t>(at);
}

void ErrorInjector::bend(unsigned end, Frame& frame) {
  auto tcp = TcpFrame::parse(frame);
  if (!tcp) return bend_packet(end, frame);
  Connection* const c = connection_of(end, tcp->header().src_port, tcp->header().dst_port);
  if (c == nullptr) return;
  Side& side = *c->sides[end];
  StreamBender& stream = side.stream;
  const wire::TcpHeader& header = tcp->header();
  if (header.has(wire::TcpHeader::kSyn)) side.first = header.seq + 1;
  if (!side.first || header.has(wire::TcpHeader::kSyn)) return;
  if (tcp->payload_bytes() == 0 && !stream.end()) return;

  if (const auto asks = c->sides[1 - end]->stream.asks_for_markers()) stream.use_markers(*asks);
  const std::uint64_t at = place(side, header.seq);
  side.newest = std::max(side.newest, at);
  tcp->copy(copies_);
  if (tcp->payload_bytes() != 0) stream.pass(at, tcp->payload());
  if (stream.end() && at + tcp->payload_bytes() > *stream.end()) close(side, at, *tcp);
  tcp->seal();
}

void ErrorInjector::bend_packet(unsigned end, Frame& frame) {
  auto sctp = SctpFrame::parse(frame);
  Connection* const c = sctp ? connection_of(end, sctp->header().src_port, sctp->header().dst_port) : nullptr;
  if (c == nullptr) return;
  const Frame original = frame;
  sctp->copy(copies_);
  if (!c->session && end != c->listener) c->session = ChunkBender::session_of(sctp->packet());
  if (c->session && c->sides[end]->chunks.pass(*c->session, sctp->packet())) sctp->seal();
  else frame = original;
}

// The stream has a FIN at `end`. The sender does not know it: its later segments become bare ACKs.
void ErrorInjector::close(const Side& side, std::uint64_t at, TcpFrame& tcp) {
  const std::uint64_t end = *side.stream.end();
  const std::uint8_t flags = tcp.header().flags & ~wire::TcpHeader::kFin;
  tcp.shorten(at < end ? end - at : 0);
  if (at > end) tcp.set_seq(static_cast<std::uint32_t>(*side.first + end + 1));
  tcp.set_flags(at > end ? flags : flags | wire::TcpHeader::kFin);
}

}  // namespace rnic::inject
