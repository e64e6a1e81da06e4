#include "model/rnic/llp/tcp/tcp_connection.h"

#include <algorithm>

#include "model/common/description.h"

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
  time_waits_ = llp::FlowTimers(flows);
  listening_.reset();
}

Wake TcpConnection::tick() {
  if (!step()) return Wake::at_cycle(std::max(time_waits_.next(), now() + 1));
  return Wake::next_cycle();
}

// One action per cycle; none pushes more than one message into each link. False when there is nothing to do, or no
// room.
bool TcpConnection::step() {
  const bool work =
      !late_fins_.empty() || from_tx->can_pop() || from_rx->can_pop() || op->can_pop() || time_waits_.next() <= now();
  if (!work || !to_tx->can_push() || !to_rx->can_push()) return false;
  if (!event->can_push()) return take_silent_op();
  if (!late_fins_.empty()) {
    peer_closed(late_fins_.pop());
  } else if (from_tx->can_pop()) {
    on_report(from_tx->pop());
  } else if (from_rx->can_pop()) {
    on_report(from_rx->pop());
  } else if (op->can_pop()) {
    on_op(op->pop());
  } else if (const FlowId flow = time_waits_.expired(now()); flow != kNoFlow) {
    release(flow);
  }
  return true;
}

// The firmware takes no event while it waits for room for an operation, so operations must not wait for it to take one.
// Only an open can fail at once, with an event.
bool TcpConnection::take_silent_op() {
  if (!op->can_pop() || op->front().kind == TcpOp::Kind::kOpen) return false;
  on_op(op->pop());
  return true;
}

void TcpConnection::on_op(TcpOp o) {
  switch (o.kind) {
    case TcpOp::Kind::kListen:
      listening_.set(o.port);
      return;
    case TcpOp::Kind::kUnlisten:
      listening_.reset(o.port);
      return;
    case TcpOp::Kind::kOpen:
      return open(o);
    default:
      break;
  }
  if (!is_open(o.flow) || o.life != connections_[o.flow.v].life) {
    ++counters_.ops_ignored;
    return;
  }
  switch (o.kind) {
    case TcpOp::Kind::kStreamSend: {
      TxCommand c;
      c.kind = TxCommand::Kind::kStream;
      c.flow = o.flow;
      c.bytes = o.bytes;
      c.data = std::move(o.data);
      to_tx->push(std::move(c));
      return command_rx(RxCommand::Kind::kUnread, o.flow);
    }
    case TcpOp::Kind::kStreamRead:
      return command_rx(RxCommand::Kind::kRead, o.flow, o.bytes);
    case TcpOp::Kind::kSetLimits: {
      TxCommand c;
      c.kind = TxCommand::Kind::kSetLimits;
      c.flow = o.flow;
      c.limits = o.limits;
      return to_tx->push(std::move(c));
    }
    case TcpOp::Kind::kEnterRdma:
      command_tx(TxCommand::Kind::kEnterRdma, o.flow);
      return command_rx(RxCommand::Kind::kEnterRdma, o.flow);
    case TcpOp::Kind::kClose:
      return close(o.flow);
    case TcpOp::Kind::kAbort:
      command_tx(TxCommand::Kind::kAbort, o.flow);
      command_rx(RxCommand::Kind::kRelease, o.flow);
      return finish(o.flow);
    default:
      RNIC_CHECK(false);
  }
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
        send_event(TcpEvent::Kind::kClosed, report.flow);
        release(report.flow);
      }
      return;
    case TxReport::Kind::kGaveUp:
      return lost(report.flow, TcpEvent::Reason::kTimeout);
    case TxReport::Kind::kReleased:
      return released(report.flow);
    case TxReport::Kind::kEmss:
      if (c.state == State::kReleasing) return;
      c.emss = report.emss;
      if (is_open(report.flow)) send_event(TcpEvent::Kind::kEmssChanged, report.flow);
      return;
  }
}

void TcpConnection::on_report(RxReport report) {
  switch (report.kind) {
    case RxReport::Kind::kSegment:
      return on_segment(report);
    case RxReport::Kind::kReset:
      return lost(report.flow, TcpEvent::Reason::kRefused);
    case RxReport::Kind::kFin:
      return peer_closed(report.flow, report.told_in_band);
    case RxReport::Kind::kReleased:
      return released(report.flow);
    case RxReport::Kind::kStream: {
      if (!is_open(report.flow)) return;
      TcpEvent e;
      e.kind = TcpEvent::Kind::kStreamData;
      e.flow = report.flow;
      e.life = connections_[report.flow.v].life;
      e.bytes = report.bytes;
      e.data = std::move(report.data);
      return event->push(std::move(e));
    }
  }
}

void TcpConnection::peer_closed(FlowId flow, bool told) {
  Connection& c = connections_[flow.v];
  switch (c.state) {
    case State::kSynReceived:
      c.peer_closed = true;
      return;
    case State::kEstablished:
      c.state = State::kCloseWait;
      if (!told) send_event(TcpEvent::Kind::kPeerClosed, flow);
      return;
    case State::kFinWait1:
      c.state = State::kClosing;
      return;
    case State::kFinWait2:
      return enter_time_wait(flow);
    case State::kTimeWait:
      time_waits_.start(flow, now() + time_wait_);
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
  time_waits_.start(flow, now() + time_wait_);
  send_event(TcpEvent::Kind::kClosed, flow);
}

// The peer refused, reset or does not answer. Firmware that never heard of the flow, or already got its kClosed, gets
// no event.
void TcpConnection::lost(FlowId flow, TcpEvent::Reason reason) {
  const Connection& c = connections_[flow.v];
  if (c.state == State::kFree || c.state == State::kReleasing) return;
  const bool opening = c.state == State::kSynSent || c.state == State::kSynReceived;
  if (opening && c.active) {
    send_event(TcpEvent::Kind::kOpenFailed, flow, reason);
  } else if (!opening && c.state != State::kTimeWait) {
    ++counters_.resets;
    send_event(TcpEvent::Kind::kReset, flow);
  }
  release(flow);
}

void TcpConnection::release(FlowId flow) {
  command_tx(TxCommand::Kind::kRelease, flow);
  command_rx(RxCommand::Kind::kRelease, flow);
  finish(flow);
}

void TcpConnection::finish(FlowId flow) {
  table_.erase(flow);
  time_waits_.stop(flow);
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
}

bool TcpConnection::is_open(FlowId flow) const {
  if (flow.v >= connections_.size()) return false;
  const State s = connections_[flow.v].state;
  return s >= State::kEstablished && s <= State::kLastAck;
}

void TcpConnection::send_event(TcpEvent::Kind kind, FlowId flow, TcpEvent::Reason reason) {
  const Connection& c = connections_[flow.v];
  const llp::FlowKey& key = table_.key(flow);
  TcpEvent e;
  e.kind = kind;
  e.reason = reason;
  e.flow = flow;
  e.life = c.life;
  e.peer_ip = key.peer_ip;
  e.peer_port = key.peer_port;
  e.port = key.port;
  e.cookie = c.cookie;
  e.emss = c.emss;
  e.syn_at = c.syn_at;
  event->push(std::move(e));
}

void TcpConnection::command_tx(TxCommand::Kind kind, FlowId flow) {
  TxCommand c;
  c.kind = kind;
  c.flow = flow;
  to_tx->push(std::move(c));
}

void TcpConnection::command_rx(RxCommand::Kind kind, FlowId flow, std::uint32_t bytes) {
  RxCommand c;
  c.kind = kind;
  c.flow = flow;
  c.bytes = bytes;
  to_rx->push(std::move(c));
}

std::size_t TcpConnection::flows_in_use() const {
  const auto used = [](const Connection& c) { return c.state != State::kFree; };
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), used));
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
  static const ValueWords kStates{"free",       "syn_sent", "syn_received", "established", "fin_wait_1", "fin_wait_2",
                                  "close_wait", "closing",  "last_ack",     "time_wait",   "releasing"};
  for (std::size_t i = 0; i < connections_.size() && d.shows_probes(); ++i) {
    d.probes().group("flow", i).state("state", kStates, [&c = connections_[i]] { return c.state; });
  }
}

}  // namespace rnic
