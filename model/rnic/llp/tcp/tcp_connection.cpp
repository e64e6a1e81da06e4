#include "model/rnic/llp/tcp/tcp_connection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/common/description.h"
#include "model/common/memory.h"
#include "model/common/overloaded.h"

namespace rnic {

using tcp::RxCommand;
using tcp::RxReport;
using tcp::TxCommand;
using tcp::TxReport;

namespace {

Cycle cycles_of_us(std::uint64_t us, const ClockDomain& clk) { return us * 1'000'000 / clk.period_ps(); }

}  // namespace

TcpConnection::TcpConnection(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config,
                             const LinkAddress& station)
    : Stage(nm, clk),
      config_(config),
      station_(station),
      time_wait_(cycles_of_us(config.time_wait_us, clk)),
      isn_key_(SipKey::of_seed(config.seed)),
      connections_(config.max_flows),
      table_(config.max_flows),
      free_(config.max_flows),
      late_fins_(config.max_flows),
      time_waits_(config.max_flows) {
  for (std::uint32_t i = 0; i < config.max_flows; ++i) free_.push(FlowId{i});
}

void TcpConnection::reset() {
  const std::size_t flows = connections_.size();
  connections_.assign(flows, {});
  table_ = llp::FlowTable(flows);
  free_ = late_fins_ = llp::FlowQueue(flows);
  for (std::uint32_t i = 0; i < flows; ++i) free_.push(FlowId{i});
  in_use_.level(0);
  hashed_.level(0);
  time_waits_ = TimerWheel(flows);
  failed_opens_.clear();
  listening_.reset();
}

Wake TcpConnection::tick() {
  if (!step()) return Wake::at_cycle(std::max(time_waits_.next(), now() + 1));
  return Wake::next_cycle();
}

// One action per cycle; none pushes more than one message into each link. False when there is nothing to do, or no
// room.
bool TcpConnection::step() {
  const bool work = !failed_opens_.empty() || !late_fins_.empty() || from_tx->can_pop() || from_rx->can_pop() ||
                    op->can_pop() || time_waits_.next() <= now();
  if (!work || !to_tx->can_push() || !to_rx->can_push()) return false;
  if (!event->can_push()) return take_silent_op();
  if (!failed_opens_.empty()) {
    event->push(LlpEvent(failed_opens_.pop()));
  } else if (!late_fins_.empty()) {
    peer_closed(late_fins_.pop());
  } else if (from_tx->can_pop()) {
    on_report(from_tx->pop());
  } else if (from_rx->can_pop()) {
    if (!establishes(from_rx->front())) on_report(from_rx->pop());
  } else if (op->can_pop()) {
    on_op(op->pop());
  } else if (time_waits_.due(now())) {
    release(FlowId{time_waits_.take()});
  }
  return true;
}

// The firmware takes no event while it waits for room for an operation, so operations must not wait for it to take one.
// Only an open can fail at once: that is reported later. It has no more of them than it has set-ups.
bool TcpConnection::take_silent_op() {
  if (!op->can_pop()) return false;
  on_op(op->pop());
  return true;
}

void TcpConnection::on_op(LlpOp operation) {
  operation.visit(Overloaded{
      [&](const fw::TcpListen& o) { listening_.set(o.port); },
      [&](const fw::TcpUnlisten& o) { listening_.reset(o.port); },
      [&](const fw::TcpOpen& o) { open(o); },
      [&](const fw::TcpStreamSend& o) {
        if (!is_current(o)) return;
        TxCommand c;
        c.kind = TxCommand::Kind::kStream;
        c.flow = o.flow;
        c.bytes = o.octets.bytes;
        c.data = std::move(operation.data);
        to_tx->push(std::move(c));
        command_rx(RxCommand::Kind::kUnread, o.flow);
      },
      [&](const fw::TcpStreamRead& o) {
        if (is_current(o)) command_rx(RxCommand::Kind::kRead, o.flow, o.into.bytes);
      },
      [&](const fw::TcpSetLimits& o) {
        if (!is_current(o)) return;
        TxCommand c;
        c.kind = TxCommand::Kind::kSetLimits;
        c.flow = o.flow;
        c.limits = o.limits;
        to_tx->push(std::move(c));
      },
      [&](const fw::TcpEnterRdma& o) {
        if (!is_current(o)) return;
        command_tx(TxCommand::Kind::kEnterRdma, o.flow);
        command_rx(RxCommand::Kind::kEnterRdma, o.flow);
      },
      [&](const fw::TcpClose& o) {
        if (is_current(o)) close(o.flow);
      },
      [&](const fw::TcpAbort& o) {
        if (!is_current(o)) return;
        command_tx(TxCommand::Kind::kAbort, o.flow);
        command_rx(RxCommand::Kind::kRelease, o.flow);
        finish(o.flow);
      },
      [](const auto& other) { RNIC_CHECK_MSG(false, std::string(other.kName) + " is not for TCP"); },
  });
}

// An operation for an earlier life of the flow has no effect.
template <class Op>
bool TcpConnection::is_current(const Op& o) {
  const bool current = is_open(o.flow) && o.life == connections_[o.flow.v].life;
  if (!current) ++counters_.ops_ignored;
  return current;
}

void TcpConnection::on_report(const TxReport& report) {
  Connection& c = connections_[report.flow.v];
  switch (report.kind) {
    case TxReport::Kind::kSynAcked:
      if (c.state == State::kSynReceived) established(report.flow);
      return;
    case TxReport::Kind::kFinAcked:
      if (c.state == State::kFinWait1) {
        c.state = State::kFinWait2;
      } else if (c.state == State::kClosing) {
        enter_time_wait(report.flow);
      } else if (c.state == State::kLastAck) {
        tell<fw::TcpClosed>(report.flow);
        release(report.flow);
      }
      return;
    case TxReport::Kind::kGaveUp:
      return lost(report.flow, fw::OpenFailure::kTimeout);
    case TxReport::Kind::kLost:
      return lost(report.flow, fw::OpenFailure::kNoResources, TxCommand::Kind::kAbort);
    case TxReport::Kind::kReleased:
      return released(report.flow);
    case TxReport::Kind::kEmss:
      if (c.state == State::kReleasing) return;
      c.emss = report.emss;
      if (is_open(report.flow)) tell(report.flow, fw::TcpEmssChanged{{}, connections_[report.flow.v].emss});
      return;
  }
}

void TcpConnection::on_report(RxReport report) {
  switch (report.kind) {
    case RxReport::Kind::kSegment:
      return on_segment(report);
    case RxReport::Kind::kReset:
      return lost(report.flow, fw::OpenFailure::kRefused);
    case RxReport::Kind::kFin:
      return peer_closed(report.flow, report.told_in_band);
    case RxReport::Kind::kLost:
      return lost(report.flow, fw::OpenFailure::kNoResources, TxCommand::Kind::kAbort);
    case RxReport::Kind::kReleased:
      return released(report.flow);
    case RxReport::Kind::kStream: {
      if (is_open(report.flow)) tell(report.flow, fw::TcpStreamData{{}, report.bytes}, 0, std::move(report.data));
      return;
    }
  }
}

// The peer acknowledged our SYN before its RST, of which tcp_tx may tell later. The RST comes next.
bool TcpConnection::establishes(const RxReport& report) {
  if (report.kind != RxReport::Kind::kReset || !report.syn_acked) return false;
  if (connections_[report.flow.v].state != State::kSynReceived) return false;
  established(report.flow);
  return true;
}

void TcpConnection::peer_closed(FlowId flow, bool told) {
  Connection& c = connections_[flow.v];
  switch (c.state) {
    case State::kSynReceived:
      c.peer_closed = true;
      return;
    case State::kEstablished:
      c.state = State::kCloseWait;
      if (!told) tell<fw::TcpPeerClosed>(flow);
      return;
    case State::kFinWait1:
      c.state = State::kClosing;
      return;
    case State::kFinWait2:
      return enter_time_wait(flow);
    case State::kTimeWait:
      time_waits_.start(flow.v, now() + time_wait_);
      return;
    default:
      return;
  }
}

void TcpConnection::close(FlowId flow) {
  Connection& c = connections_[flow.v];
  if (c.state != State::kEstablished && c.state != State::kCloseWait) {
    ++counters_.ops_ignored;
    return;
  }
  c.state = c.state == State::kEstablished ? State::kFinWait1 : State::kLastAck;
  command_tx(TxCommand::Kind::kFin, flow);
  command_rx(RxCommand::Kind::kDiscard, flow);
}

void TcpConnection::enter_time_wait(FlowId flow) {
  connections_[flow.v].state = State::kTimeWait;
  time_waits_.start(flow.v, now() + time_wait_);
  tell<fw::TcpClosed>(flow);
}

// The peer refused, reset or does not answer. Firmware that never heard of the flow, or already got its TcpClosed, gets
// no event.
void TcpConnection::lost(FlowId flow, fw::OpenFailure reason, TxCommand::Kind end) {
  const Connection& c = connections_[flow.v];
  if (c.state == State::kFree || c.state == State::kReleasing) return;
  const bool opening = c.state == State::kSynSent || c.state == State::kSynReceived;
  if (opening && c.active) {
    event->push(LlpEvent(fw::TcpOpenFailed{c.cookie, reason}));
  } else if (!opening && c.state != State::kTimeWait) {
    ++counters_.resets;
    tell<fw::TcpReset>(flow);
  }
  release(flow, end);
}

void TcpConnection::release(FlowId flow, TxCommand::Kind end) {
  command_tx(end, flow);
  command_rx(RxCommand::Kind::kRelease, flow);
  finish(flow);
}

void TcpConnection::finish(FlowId flow) {
  table_.erase(flow);
  hashed_.fall();
  time_waits_.stop(flow.v);
  Connection& c = connections_[flow.v];
  const auto life = static_cast<std::uint16_t>(c.life + 1);  // later operations of the firmware are not meant for it
  c = Connection{};
  c.state = State::kReleasing;
  c.life = life;
}

// Only when neither half can refer to the old connection any more may the number be reused.
void TcpConnection::released(FlowId flow) {
  Connection& c = connections_[flow.v];
  RNIC_CHECK(c.state == State::kReleasing);
  if (++c.releases < 2) return;
  c.releases = 0;
  c.state = State::kFree;
  free_.push(flow);
  in_use_.fall();
}

bool TcpConnection::is_open(FlowId flow) const {
  if (flow.v >= connections_.size()) return false;
  const State s = connections_[flow.v].state;
  return s >= State::kEstablished && s <= State::kLastAck;
}

// The flow and its life are filled in.
template <class Event>
void TcpConnection::tell(FlowId flow, Event e, Cycle begun_at, BufferRef data) {
  e.flow = flow;
  e.life = connections_[flow.v].life;
  event->push(LlpEvent(e, begun_at, std::move(data)));
}

void TcpConnection::tell_open(FlowId flow) {
  const Connection& c = connections_[flow.v];
  const llp::FlowKey& key = table_.key(flow);
  if (c.active) tell(flow, fw::TcpConnected{{}, c.cookie, key.port, c.emss}, c.syn_at);
  else tell(flow, fw::TcpAccepted{{}, key.peer_ip, key.peer_port, key.port, c.emss}, c.syn_at);
}

void TcpConnection::command_tx(TxCommand::Kind kind, FlowId flow) {
  TxCommand c;
  c.kind = kind;
  c.flow = flow;
  if (kind == TxCommand::Kind::kAbort) {
    c.key = table_.key(flow);
    c.peer_mac = connections_[flow.v].peer_mac;
  }
  to_tx->push(std::move(c));
}

void TcpConnection::command_rx(RxCommand::Kind kind, FlowId flow, std::uint32_t bytes) {
  RxCommand c;
  c.kind = kind;
  c.flow = flow;
  c.bytes = bytes;
  to_rx->push(std::move(c));
}

std::string TcpConnection::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    const State s = connections_[i].state;
    const char* what = s == State::kSynSent                                                    ? "a peer's SYN"
                       : s == State::kSynReceived                                              ? "the ACK of our SYN"
                       : s == State::kFinWait1 || s == State::kClosing || s == State::kLastAck ? "the ACK of our FIN"
                       : s == State::kFinWait2                                                 ? "the peer's FIN"
                                                                                               : nullptr;
    if (what != nullptr) text += (text.empty() ? "" : ", ") + std::string("flow ") + std::to_string(i) + ": " + what;
  }
  return text;
}

void TcpConnection::describe(const Description& d) {
  d.stats().derived(
      "flows", [this] { return static_cast<double>(flows_in_use()); }, "flows",
      "flows that are not free, those in TIME-WAIT included");
  d.counters(counters_);
  describe_memory(d.part("connections").stats(),
                  {connections_.size(), connections_.size(), bits_of<Connection>(), "flows", "tcp.max_flows"}, in_use_);
  describe_memory(d.part("flow_hash").stats(),
                  {table_.places(), table_.places(), llp::FlowTable::slot_bits(connections_.size()), "slots",
                   "2 x tcp.max_flows at least, a power of two, in buckets of 4"},
                  hashed_);
  static const ValueWords kStates{"free",       "syn_sent", "syn_received", "established", "fin_wait_1", "fin_wait_2",
                                  "close_wait", "closing",  "last_ack",     "time_wait",   "releasing"};
  for (std::size_t i = 0; i < connections_.size() && d.shows_probes(); ++i) {
    d.probes().group("flow", i).state("state", kStates, [&c = connections_[i]] { return c.state; });
  }
}

}  // namespace rnic
