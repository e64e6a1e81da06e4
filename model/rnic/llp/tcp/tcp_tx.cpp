#include "model/rnic/llp/tcp/tcp_tx.h"

#include <algorithm>

#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"

namespace rnic {

template class Collects<FpduBeat, FpduIn>;

using tcp::TxCommand;
using tcp::TxReport;

namespace {

constexpr std::uint8_t bit(TxReport::Kind kind) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind)); }

}  // namespace

TcpTx::TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const LinkAddress& station,
             BufferPool& pool)
    : Stage(nm, clk),
      config_(config),
      ack_settings_(config, clk.period_ps()),
      resources_(config, clk.period_ps(), pool),
      writer_(station, pool),
      node_(station.node),
      flows_(config.max_flows),
      sent_(clk, config.max_flows),
      uses_(config.max_flows),
      acks_(config.max_flows),
      sends_(config.max_flows),
      reports_queue_(config.max_flows),
      rto_(config.max_flows),
      ack_timers_(config.max_flows),
      unacknowledged_(config.window_bytes),
      congested_(config.max_flows),
      in_flight_(config.max_flows),
      repairing_(config.max_flows) {
  RNIC_CHECK(pool.block_bytes() >= kFrameHeadroom + config.mtu);
}

void TcpTx::reset() {
  const std::size_t flows = flows_.size();
  flows_ = std::vector<Flow>(flows);
  resources_.segments.reset();
  acks_ = sends_ = reports_queue_ = llp::FlowQueue(flows);
  rto_ = ack_timers_ = TimerWheel(flows);
  in.reset();
  in.fpdu = {};
  octets_ = congested_flows_ = flows_in_flight_ = repairing_flows_ = 0;
  for (Account* account : {&unacknowledged_, &congested_, &in_flight_, &repairing_}) account->set(now(), 0, false);
}

// The frame slot goes to commands first, then to ACKs, to queued segments, and to the incoming FPDU.
Wake TcpTx::tick() {
  if (feedback->can_pop()) on_feedback(feedback->pop());
  run_timers();
  const bool room = out->can_push();
  bool slot = room;
  if (commands->can_pop() && slot) {
    const TxCommand c = commands->pop();
    slot = !on_command(c);
    if (c.kind != TxCommand::Kind::kRefuse) account(c.flow);
  }
  if (slot && !acks_.empty() && send_owed_ack()) slot = false;
  if (slot && !sends_.empty() && send_queued()) slot = false;
  in.collect(now());
  if (slot && in.beat_at() <= now()) take_fpdu();
  in.collect(horizon());
  if (!reports_queue_.empty()) serve_reports();
  return next_wake(room);
}

Wake TcpTx::next_wake(bool room) const {
  if (feedback->can_pop() || !reports_queue_.empty()) return Wake::next_cycle();
  if (room && (commands->can_pop() || !acks_.empty() || !sends_.empty())) return Wake::next_cycle();
  const Cycle beat = room || in.beat_at() > now() ? in.beat_at() : kNever;
  return Wake::at_cycle(std::max(std::min({beat, rto_.next(), ack_timers_.next()}), now() + 1));
}

// ---- FPDUs

void TcpTx::take_fpdu() {
  const FpduBeat last = in.take_last();
  tcp::QueuedSegment s = in.fpdu.finish(last);
  Flow& f = flows_[last.flow.v];
  if (!f.sender.rdma() || f.sender.finished()) {
    ++counters_.fpdus_dropped;
    give_back(last.flow, in.fpdu.bytes(), 1);
    return;
  }
  RNIC_CHECK_MSG(in.fpdu.bytes() <= f.sender.largest_fpdu(),
                 std::string(name()) + ": an FPDU is larger than a segment");
  std::uint32_t cuts = 0;
  const std::uint32_t slot = f.sender.queue_fpdu(resources_, std::move(s), cuts);
  on_queued(last.flow);
  count_cuts(last.flow, cuts);
  account(last.flow);
  if (cuts != 0) return resume(last.flow);
  // Otherwise it waits in the flow's own queue: after a retransmission, or for a congestion window that fell after the
  // credit was given.
  if (f.sender.next_to_send(resources_) == slot) send(last.flow, slot);
}

// ---- Commands

// True if the cycle's frame was sent.
bool TcpTx::on_command(const TxCommand& c) {
  if (c.kind == TxCommand::Kind::kRefuse) {
    send_reset(c.key, c.peer_mac, c.seq, c.with_ack, c.rcv_nxt);
    return true;
  }
  Flow& f = flows_[c.flow.v];
  if (c.kind == TxCommand::Kind::kOpen) {
    open(c);
    return false;
  }
  RNIC_CHECK(f.open);
  if (f.reset) {
    if (c.kind == TxCommand::Kind::kAbort || c.kind == TxCommand::Kind::kRelease) release(c.flow);
    return false;
  }
  switch (c.kind) {
    case TxCommand::Kind::kEstablish:
      establish(c);
      return false;
    case TxCommand::Kind::kStream:
      if (f.sender.finished() || c.bytes == 0) return false;
      keep(c.flow, c.bytes, f.sender.queue_stream(resources_, c.data->bytes(), c.bytes));
      on_queued(c.flow);
      resume(c.flow);
      return false;
    case TxCommand::Kind::kSetLimits:
      f.sender.set_limits(c.limits);
      if (f.sender.idle()) restart_rto(c.flow);
      return false;
    case TxCommand::Kind::kEnterRdma:
      if (memory_ != nullptr && !f.sender.rdma()) memory_->open(c.flow);
      f.sender.enter_rdma();
      reports_queue_.push(c.flow);
      restart_rto(c.flow);
      return false;
    case TxCommand::Kind::kFin:
      f.sender.queue_fin(resources_);
      keep(c.flow, 0, 1);
      on_queued(c.flow);
      sends_.push(c.flow);
      f.sender.finish();
      return false;
    case TxCommand::Kind::kAbort:
      send_reset(f.key, f.peer_mac, f.sender.snd_nxt(), true, f.acks.rcv_nxt());
      release(c.flow);
      return true;
    case TxCommand::Kind::kRelease:
      release(c.flow);
      return false;
    default:
      RNIC_CHECK(false);
  }
  return false;
}

// A second kOpen belongs to a flow whose own SYN crossed the peer's.
void TcpTx::open(const TxCommand& c) {
  Flow& f = flows_[c.flow.v];
  uses_[c.flow.v] += !f.open;
  clear(c.flow);
  f.renew();
  f.open = true;
  f.key = c.key;
  f.peer_mac = c.peer_mac;
  tcp::Agreed agreed = c.agreed;
  if (!c.with_ack) {  // what we advertise
    agreed.scaling = true;
    agreed.sack = config_.sack;
    agreed.timestamps = config_.timestamps;
    agreed.ecn = config_.wants_ecn();
  }
  f.acks.agree(agreed);
  f.acks.start(ack_settings_, c.rcv_nxt, c.with_ack);
  f.sender.open(resources_, c.seq, c.with_ack, agreed, c.peer_window, c.rcv_nxt - 1);
  keep(c.flow, 0, 1);
  sent_.set(c.flow, c.seq + 1);
  on_queued(c.flow);
  sends_.push(c.flow);
}

void TcpTx::establish(const TxCommand& c) {
  Flow& f = flows_[c.flow.v];
  f.acks.agree(c.agreed);
  f.acks.start(ack_settings_, c.rcv_nxt, true);
  on_acked(c.flow, f.sender.establish(resources_, c.agreed, c.ack, c.peer_window, c.rcv_nxt - 1, now()));
  restart_rto(c.flow);
  owe_ack(c.flow);
}

// After the peer's RST, until the firmware has heard of it: data handed down meanwhile is dropped.
void TcpTx::fall_silent(FlowId flow) {
  Flow& f = flows_[flow.v];
  clear(flow);
  f.sender = {};
  f.sender.finish();
  f.acks = {};
  f.probe_owed = false;
  f.reset = true;
  rto_.stop(flow.v);
  ack_timers_.stop(flow.v);
  account(flow);
}

void TcpTx::release(FlowId flow) {
  clear(flow);
  flows_[flow.v].renew();
  rto_.stop(flow.v);
  ack_timers_.stop(flow.v);
  report(flow, TxReport::Kind::kReleased);
}

// ---- The transmit memory

void TcpTx::clear(FlowId flow) {
  tcp::Sender& sender = flows_[flow.v].sender;
  const tcp::RetransmissionQueue::Kept kept = sender.clear(resources_);
  give_back(flow, kept.octets, kept.segments);
  if (memory_ != nullptr && sender.rdma()) memory_->close(flow);
}

// The octets stay the same; each piece has a record of its own.
void TcpTx::count_cuts(FlowId flow, std::uint32_t cuts) {
  counters_.cuts += cuts;
  keep(flow, 0, cuts);
}

// ---- Reports: none waits in a link, so no peer or neighbour can block the others.

void TcpTx::report(FlowId flow, TxReport::Kind kind) {
  flows_[flow.v].reports |= bit(kind);
  reports_queue_.push(flow);
}

void TcpTx::serve_reports() {
  const FlowId flow = reports_queue_.front();
  Flow& f = flows_[flow.v];
  bool more = false;
  if (f.wqes_acked != 0) {
    if (acked->can_push()) acked->push({flow, std::exchange(f.wqes_acked, 0)});
    else more = true;
  }
  if (const std::uint32_t octets = f.sender.grantable(); octets != 0 && !f.sender.finished()) {
    if (credit->can_push()) {
      credit->push({flow, octets});
      f.sender.grant(octets);
    } else {
      more = true;
    }
  }
  if (f.reports != 0) {
    if (reports->can_push()) {
      const unsigned kind = static_cast<unsigned>(__builtin_ctz(f.reports));
      f.reports = static_cast<std::uint8_t>(f.reports & (f.reports - 1));
      reports->push({static_cast<TxReport::Kind>(kind), flow, f.sender.mss()});
    }
    more |= f.reports != 0;
  }
  reports_queue_.pop();
  if (more) reports_queue_.push(flow);
}

// After anything that changes what a flow has in flight, or may have.
void TcpTx::account(FlowId flow) {
  const FlowState s = flow_state(flow);
  Counted& counted = flows_[flow.v].counted;
  const bool congested = s.open && s.congestion_window < s.peer_window;
  octets_ += s.unacknowledged - counted.octets;
  congested_flows_ += congested - counted.congested;
  flows_in_flight_ += (s.unacknowledged != 0) - (counted.octets != 0);
  repairing_flows_ += s.repairing - counted.repairing;
  counted.octets = s.unacknowledged;
  counted.congested = congested;
  counted.repairing = s.repairing;
  unacknowledged_.set(now(), octets_, false);
  congested_.set(now(), congested_flows_, false);
  in_flight_.set(now(), flows_in_flight_, false);
  repairing_.set(now(), repairing_flows_, false);
}

FlowState TcpTx::flow_state(FlowId flow) const {
  const Flow& f = flows_[flow.v];
  if (!f.open) return {};
  return {true,
          f.sender.snd_una(),
          f.sender.snd_end() - f.sender.snd_una(),
          f.sender.congestion_window(),
          f.sender.peer_window(),
          f.sender.recovering()};
}

std::string TcpTx::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Flow& f = flows_[i];
    if (!f.open || f.sender.snd_una() == f.sender.snd_end()) continue;
    text += (text.empty() ? "" : ", ") + std::string("flow ") + std::to_string(i) + ": ACK of " +
            std::to_string(f.sender.snd_end() - f.sender.snd_una()) + " octets";
  }
  return text;
}

void TcpTx::describe(const Description& d) {
  d.counters(counters_);
  d.series("tcp_tx.segments", 40, counters_, &TcpTxCounters::segments);
  d.series("tcp_tx.retransmissions", 50, counters_, &TcpTxCounters::retransmissions);
  d.series("tcp_tx.payload", 60, counters_, &TcpTxCounters::payload_bytes);
  d.account({"tcp.unacknowledged", "credits", Reach::kNobodyWaits, "", 110, AccountRole::kUnacknowledged},
            unacknowledged_);
  d.account({"tcp.congested_flows", "slots", Reach::kNobodyWaits, "", 120, AccountRole::kCongested}, congested_);
  d.account({"tcp.flows_in_flight", "slots", Reach::kNobodyWaits, "", 130, AccountRole::kInFlight}, in_flight_);
  d.account({"tcp.repairing_flows", "slots", Reach::kElse, "losses", 140}, repairing_);
  d.flows(*this);
  for (std::size_t i = 0; i < flows_.size() && d.shows_probes(); ++i) {
    const Flow& f = flows_[i];
    const ProbeGroup flow = d.probes().group("flow", i);
    const auto octets = [&flow, &f](const char* name, std::uint32_t (tcp::Sender::*read)() const) {
      flow.number(name, 32, "octets", [&f, read] { return f.open ? (f.sender.*read)() : 0; });
    };
    octets("cwnd", &tcp::Sender::congestion_window);
    octets("ssthresh", &tcp::Sender::slow_start_threshold);
    octets("snd_una", &tcp::Sender::snd_una);
    octets("snd_nxt", &tcp::Sender::snd_nxt);
    octets("snd_end", &tcp::Sender::snd_end);
    octets("peer_window", &tcp::Sender::peer_window);
  }
}

}  // namespace rnic
