#include "model/rnic/llp/tcp/tcp_tx.h"

#include <algorithm>
#include <utility>

#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"

namespace rnic {

template class Collects<FpduBeat, FpduIn>;

using tcp::TxCommand;
using tcp::TxReport;

namespace {

constexpr std::uint8_t bit(TxReport::Kind kind) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind)); }

}  // namespace

// ---- The incoming FPDU

// The stage is called in the cycle of the first beat, also if that is still to come.
void FpduIn::on_run(const FpduBeat& first, unsigned beats) {
  if (first.first) {
    flow_ = first.flow;
    begins_at_ = beat_at();
    if (begins_at_ > owner().clock().now()) owner().wake(begins_at_);
  }
  fpdu_.add(first, beats);
}

bool FpduIn::has_begun() {
  const Cycle now = owner().clock().now();
  if (beat_at() > now) return begins_at_ <= now;
  flow_ = (*this)->front().flow;
  return true;
}

tcp::QueuedSegment FpduIn::take() {
  begins_at_ = kNever;
  return fpdu_.finish(take_last());
}

TcpTx::TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, FlowTxTable& table,
             const LinkAddress& station, BufferPool& pool)
    : Stage(nm, clk),
      config_(config),
      ack_settings_(config, clk.period_ps()),
      resources_(config, clk.period_ps(), pool),
      writer_(station, pool),
      node_(station.node),
      table_(table),
      kept_(table.cached() ? config.max_flows : 0),
      sent_(clk, config.max_flows),
      uses_(config.max_flows),
      acks_(config.max_flows),
      sends_(config.max_flows),
      freed_(config.max_flows),
      reports_(config.max_flows),
      lost_(kept_.size()),
      lost_released_(kept_.size()),
      rto_(config.max_flows),
      ack_timers_(config.max_flows),
      unacknowledged_(config.window_bytes),
      congested_(config.max_flows),
      in_flight_(config.max_flows),
      repairing_(config.max_flows) {
  RNIC_CHECK(pool.block_bytes() >= kFrameHeadroom + config.mtu);
  RNIC_CHECK(table.rows() == config.max_flows);
  table.owned_by(*this);
  events_.bind_to(table);
  for (FlowTxTable::Reader* reader : {&command_, &ack_turn_, &send_turn_, &fpdu_row_}) table.bind(*reader);
}

void TcpTx::reset() {
  const std::size_t flows = table_.rows();
  table_.reset();
  events_.reset();
  resources_.segments.reset();
  kept_.assign(kept_.size(), {});
  command_asked_ = false;
  fed_at_ = framed_at_ = kNever;
  fpdus_ = {};
  free_fpdus_ = kAllFree;
  whole_ = 0;
  incoming_ = kNoFpdu;
  acks_ = sends_ = freed_ = reports_ = llp::FlowQueue(flows);
  lost_ = lost_released_ = llp::FlowQueue(kept_.size());
  turns_to_send_ = 0;
  rto_ = ack_timers_ = TimerWheel(flows);
  in.reset();
  windows_.reset();
  octets_ = congested_flows_ = flows_in_flight_ = repairing_flows_ = 0;
  for (Account* account : {&unacknowledged_, &congested_, &in_flight_, &repairing_}) account->set(now(), 0, false);
}

// Asks for rows, and the use of one that is there.
Wake TcpTx::tick() {
  slot_ = out->can_push();
  in.collect(now());
  bool busy = commands->can_pop() && take_command();
  busy |= take_event();
  busy |= in.has_begun() && take_fpdu();
  busy |= use_row();
  busy |= begin_turn(acks_, ack_turn_);
  if (begin_turn(sends_, send_turn_)) {
    ++turns_to_send_;
    busy = true;
  }
  in.collect(horizon());
  if (busy && goes_on()) return Wake::next_cycle();
  const Cycle beat = in.beat_at() > now() ? in.beat_at() : kNever;
  return Wake::at_cycle(std::max(std::min({beat, rto_.next(), ack_timers_.next()}), now() + 1));
}

// Where one step a cycle may have left another one. Rows, room and what comes call the stage: a frame that has no slot
// is no reason to call it before.
bool TcpTx::goes_on() {
  if (events_.ready() || !freed_.empty() || !reports_.empty() || !lost_.empty() || !lost_released_.empty()) return true;
  if (feedback->can_pop() && events_.can_take()) return true;
  if (!acks_.empty() || !sends_.empty()) return true;
  if (in.beat_at() <= now() && takes_fpdu()) return true;
  if (commands->can_pop() && (!command_asked_ || command_.can_use())) return true;
  const bool frames = ack_turn_.can_use() || send_turn_.can_use() || fpdu_is_ready();
  return frames && out->can_push();
}

// ---- Asks for rows

// One is on its way at a time. What is refused belongs to no flow: it waits for a frame's slot alone.
bool TcpTx::take_command() {
  if (const TxCommand& c = commands->front(); c.kind != TxCommand::Kind::kRefuse) {
    if (command_asked_ || !command_.can_ask()) return false;
    command_.ask(c.flow.v);
    command_asked_ = true;
    return true;
  }
  if (!slot_) return false;
  const TxCommand c = commands->pop();
  send_reset(c.key, c.peer_mac, c.seq, c.with_ack, c.rcv_nxt);
  return true;
}

// One a cycle. After one of the peer's it is the turn of another one, if there is any.
bool TcpTx::take_event() {
  const bool fed = feedback->can_pop(), others = others_wait();
  if (!fed && !others) return false;
  if (others && (!fed || fed_at_ + 1 == now()) && take_other()) return true;
  if (!fed || !events_.can_take()) return false;
  const tcp::RxFeedback fb = feedback->pop();
  events_.take(fb.flow, uses_[fb.flow.v], fb);
  fed_at_ = now();
  return true;
}

bool TcpTx::others_wait() {
  const bool expired = ack_timers_.due(now()), silent = rto_.due(now());
  return expired || silent || !freed_.empty() || !reports_.empty() || !lost_.empty() || !lost_released_.empty();
}

bool TcpTx::take_other() {
  if ((!lost_.empty() || !lost_released_.empty()) && reports->can_push()) {
    report_lost();
    return true;
  }
  if (!events_.can_take()) return false;
  if (ack_timers_.due(now())) {
    expire(ack_timers_, false);
  } else if (rto_.due(now())) {
    expire(rto_, true);
  } else if (!freed_.empty() && acked->can_push() && credit->can_push()) {
    take_untold(freed_);
  } else if (!reports_.empty() && reports->can_push()) {
    take_untold(reports_);
  } else {
    return false;
  }
  return true;
}

void TcpTx::expire(TimerWheel& timers, bool retransmission) {
  const FlowId flow{timers.take()};
  timers.hold(flow.v);
  events_.take(flow, uses_[flow.v], Expired{retransmission});
}

void TcpTx::take_untold(llp::FlowQueue& flows) {
  const FlowId flow = flows.pop();
  events_.take(flow, uses_[flow.v], Untold{});
}

// With the first beat, so that the row of a long one is there with the last.
bool TcpTx::take_fpdu() {
  bool busy = false;
  if (incoming_ == kNoFpdu && free_fpdus_ != 0 && fpdu_row_.can_ask()) {
    incoming_ = static_cast<unsigned>(__builtin_ctz(free_fpdus_));
    free_fpdus_ &= free_fpdus_ - 1;
    fpdu_row_.ask(in.flow().v, incoming_);
    busy = true;
  }
  if (incoming_ != kNoFpdu && in.beat_at() <= now() && takes_fpdu()) {
    fpdus_[std::exchange(incoming_, kNoFpdu)] = {in.flow(), uses_[in.flow().v], true, in.take()};
    ++whole_;
    busy = true;
  }
  return busy;
}

bool TcpTx::begin_turn(llp::FlowQueue& flows, FlowTxTable::Reader& turn) {
  if (flows.empty() || !turn.can_ask()) return false;
  turn.ask(flows.pop().v);
  return true;
}

// ---- Uses of rows

// Frames first, as mac_tx cannot take one in each cycle; but not twice in a row while an event waits.
bool TcpTx::use_row() {
  const bool event = events_.ready() && !is_to_be_established(events_.id());
  const bool turn_of_events = framed_at_ + 1 == now() && event;
  if (!turn_of_events && use_for_frame()) {
    framed_at_ = now();
    return true;
  }
  if (!event) return false;
  execute_event();
  return true;
}

// What the peer said comes after the command that establishes the connection, also if its row is there before.
bool TcpTx::is_to_be_established(FlowId flow) {
  return !kept_.empty() &&
         commands->any([flow](const TxCommand& c) { return c.flow == flow && c.kind == TxCommand::Kind::kEstablish; });
}

// A FIN comes after the FPDUs that are here.
bool TcpTx::command_is_ready() {
  if (!command_.can_use()) return false;
  const TxCommand& c = commands->front();
  if (c.kind == TxCommand::Kind::kAbort) return slot_;
  if (kept_.empty() || c.kind != TxCommand::Kind::kFin) return true;
  const auto is_of = [&c](const KeptFpdu& fpdu) { return fpdu.whole && fpdu.flow == c.flow; };
  return std::none_of(fpdus_.begin(), fpdus_.end(), is_of);
}

// The frame slot goes to commands first, then to ACKs, to queued segments, and to FPDUs.
bool TcpTx::use_for_frame() {
  if (command_is_ready()) {
    execute_command();
  } else if (!slot_) {
    return false;
  } else if (ack_turn_.can_use()) {
    execute_ack();
  } else if (send_turn_.can_use()) {
    execute_queued();
  } else if (fpdu_is_ready()) {
    execute_fpdu();
  } else {
    return false;
  }
  return true;
}

TcpTx::Use TcpTx::use(FlowId flow) {
  const auto [state, row] = table_.own_in_row(flow.v, &FlowTxRow::state);
  return {flow, row.qp, state, Level::of(state)};
}

// A frame that is due leaves with the same use, if there is a slot and no other flow waits for it.
void TcpTx::finish(Use& u) {
  if (u.ack && slot_ && !acks_wait()) send_owed_ack(u);
  if (u.segment && slot_ && !acks_wait() && !segments_wait()) send_queued(u);
  if (u.ack) acks_.push(u.flow);
  if (u.segment && !has_turn(u.flow)) sends_.push(u.flow);
  tell(u);
  if (windows_.on()) windows_.look(u.flow, u.qp.qpn, u.row.sender, u.idle);
  const Level has = Level::of(u.row);
  account(u.before, has);
  if (!kept_.empty()) kept_[u.flow.v] = {u.row.sender.kept_head(), u.row.open, u.row.sender.rdma(), has};
}

void TcpTx::execute_command() {
  const TxCommand c = commands->pop();
  command_asked_ = false;
  if (!command_.ok()) {
    command_.drop();
    if (c.kind == TxCommand::Kind::kAbort) send_reset(c.key, c.peer_mac, sent_.snd_nxt(c.flow), false, 0);
    const bool ends = c.kind == TxCommand::Kind::kAbort || c.kind == TxCommand::Kind::kRelease;
    return ends ? release_lost(c.flow) : lost_.push(c.flow);
  }
  Use u = use(c.flow);
  command_.drop();
  on_command(u, c);
  finish(u);
}

void TcpTx::execute_ack() {
  const FlowId flow{ack_turn_.front().index};
  if (!ack_turn_.ok()) {
    ack_turn_.drop();
    return lose(flow);
  }
  Use u = use(flow);
  ack_turn_.drop();
  send_owed_ack(u);
  finish(u);
}

// The turn goes on while no other flow waits for one.
void TcpTx::execute_queued() {
  const FlowId flow{send_turn_.front().index};
  if (!send_turn_.ok()) {
    send_turn_.drop();
    --turns_to_send_;
    return lose(flow);
  }
  Use u = use(flow);
  send_queued(u);
  if (u.segment && turns_to_send_ == 1 && sends_.empty()) {
    u.segment = false;
  } else {
    send_turn_.drop();
    --turns_to_send_;
  }
  finish(u);
}

void TcpTx::execute_fpdu() {
  const unsigned place = fpdu_row_.front().tag;
  const FlowId flow = fpdus_[place].flow;
  const bool late = fpdus_[place].use != uses_[flow.v];
  tcp::QueuedSegment segment = std::move(fpdus_[place].segment);
  fpdus_[place] = {};
  free_fpdus_ |= 1u << place;
  --whole_;
  if (late || !fpdu_row_.ok()) {
    if (!late) lose(flow);
    fpdu_row_.drop();
    return drop(flow, segment);
  }
  Use u = use(flow);
  fpdu_row_.drop();
  on(u, std::move(segment));
  finish(u);
}

void TcpTx::execute_event() {
  if (events_.epoch() != uses_[events_.id().v]) return events_.drop();
  if (!events_.ok()) {
    if (const auto* timer = std::get_if<Expired>(&events_.front())) {
      (timer->retransmission ? rto_ : ack_timers_).stop(events_.id().v);
    }
    lose(events_.id());
    return events_.drop();
  }
  Use u = use(events_.id());
  std::visit([&](const auto& event) { on(u, event); }, events_.front());
  events_.drop();
  finish(u);
}

// ---- Flows whose row is lost: its home could not give it, or not what was written there

// What is known of it without the row.
void TcpTx::release_lost(FlowId flow) {
  const Kept kept = std::exchange(kept_[flow.v], {});
  const auto [octets, segments] = tcp::RetransmissionQueue::give_back(resources_.segments, kept.head);
  give_back(flow, octets, segments);
  if (memory_ != nullptr && kept.rdma) memory_->close(flow);
  rto_.stop(flow.v);
  ack_timers_.stop(flow.v);
  account(kept.level, {});
  lost_released_.push(flow);
}

// The connection ends, as far as it has not; then its number is free.
void TcpTx::report_lost() {
  if (!lost_.empty()) reports->push({TxReport::Kind::kLost, lost_.pop()});
  else reports->push({TxReport::Kind::kReleased, lost_released_.pop()});
}

// ---- FPDUs

void TcpTx::on(Use& u, tcp::QueuedSegment&& fpdu) {
  tcp::Sender& sender = u.row.sender;
  const std::uint32_t bytes = fpdu.payload_bytes;
  if (!sender.rdma() || sender.finished()) return drop(u.flow, fpdu);
  RNIC_CHECK_MSG(bytes <= sender.largest_fpdu(), std::string(name()) + ": an FPDU is larger than a segment");
  std::uint32_t cuts = 0;
  const std::uint32_t slot = sender.queue_fpdu(resources_, std::move(fpdu), cuts);
  on_queued(u);
  count_cuts(u, cuts);
  if (cuts != 0) return resume(u);
  // Otherwise it waits in the flow's own queue: after a retransmission, or for a congestion window that fell after the
  // credit was given.
  if (sender.next_to_send(resources_) == slot) send(u, slot);
}

void TcpTx::drop(FlowId flow, const tcp::QueuedSegment& fpdu) {
  ++counters_.fpdus_dropped;
  drops_(now(), fpdu.buf->owner(), fpdu.payload_bytes, "its stream is over");
  give_back(flow, fpdu.payload_bytes, 1);
}

// ---- Commands

void TcpTx::on_command(Use& u, const TxCommand& c) {
  if (c.kind == TxCommand::Kind::kOpen) return open(u, c);
  RNIC_CHECK(u.row.open);
  if (u.row.reset) {
    if (c.kind == TxCommand::Kind::kAbort || c.kind == TxCommand::Kind::kRelease) release(u);
    return;
  }
  switch (c.kind) {
    case TxCommand::Kind::kEstablish:
      return establish(u, c);
    case TxCommand::Kind::kStream:
      return stream(u, c);
    case TxCommand::Kind::kSetLimits:
      u.row.sender.set_limits(c.limits);
      if (u.row.sender.idle()) restart_rto(u);
      return;
    case TxCommand::Kind::kEnterRdma:
      return enter_rdma(u);
    case TxCommand::Kind::kFin:
      return queue_fin(u);
    case TxCommand::Kind::kAbort:
      return abort(u);
    case TxCommand::Kind::kRelease:
      return release(u);
    default:
      RNIC_CHECK(false);
  }
}

// A second kOpen belongs to a flow whose own SYN crossed the peer's.
void TcpTx::open(Use& u, const TxCommand& c) {
  FlowTx& f = u.row;
  uses_[u.flow.v] += !f.open;
  clear(u);
  f = FlowTx{};
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
  keep(u.flow, 0, 1);
  sent_.set(u.flow, c.seq + 1);
  on_queued(u);
  u.segment = true;
}

void TcpTx::establish(Use& u, const TxCommand& c) {
  u.row.acks.agree(c.agreed);
  u.row.acks.start(ack_settings_, c.rcv_nxt, true);
  on_acked(u, u.row.sender.establish(resources_, c.agreed, c.ack, c.peer_window, c.rcv_nxt - 1, now()));
  restart_rto(u);
  owe_ack(u);
}

void TcpTx::stream(Use& u, const TxCommand& c) {
  if (u.row.sender.finished() || c.bytes == 0) return;
  keep(u.flow, c.bytes, u.row.sender.queue_stream(resources_, c.data->bytes(), c.bytes));
  on_queued(u);
  resume(u);
}

void TcpTx::enter_rdma(Use& u) {
  if (memory_ != nullptr && !u.row.sender.rdma()) memory_->open(u.flow);
  u.row.sender.enter_rdma();
  u.credit = true;
  restart_rto(u);
}

void TcpTx::queue_fin(Use& u) {
  u.row.sender.queue_fin(resources_);
  keep(u.flow, 0, 1);
  on_queued(u);
  u.segment = true;
  u.row.sender.finish();
}

void TcpTx::abort(Use& u) {
  const FlowTx& f = u.row;
  send_reset(f.key, f.peer_mac, f.sender.snd_nxt(), true, f.acks.rcv_nxt());
  release(u);
}

void TcpTx::release(Use& u) {
  clear(u);
  u.row = FlowTx{};
  rto_.stop(u.flow.v);
  ack_timers_.stop(u.flow.v);
  report(u, TxReport::Kind::kReleased);
}

// ---- The transmit memory

void TcpTx::clear(Use& u) {
  tcp::Sender& sender = u.row.sender;
  const tcp::RetransmissionQueue::Kept kept = sender.clear(resources_);
  give_back(u.flow, kept.octets, kept.segments);
  if (memory_ != nullptr && sender.rdma()) memory_->close(u.flow);
}

// The octets stay the same; each piece has a record of its own.
void TcpTx::count_cuts(Use& u, std::uint32_t cuts) {
  counters_.cuts += cuts;
  keep(u.flow, 0, cuts);
}

// ---- Reports: none waits in a link, so no peer or neighbour can block the others.

void TcpTx::report(Use& u, TxReport::Kind kind) { u.row.reports |= bit(kind); }

// With the use of the row that has found it. What finds no room gets a use of its own.
void TcpTx::tell(Use& u) {
  bool waits = tell_acked(u);
  waits |= tell_credit(u);
  if (waits) freed_.push(u.flow);
  if (u.row.reports != 0) tell_report(u);
}

// True if it waits.
bool TcpTx::tell_acked(Use& u) {
  if (u.row.wqes_acked == 0) return false;
  if (!acked->can_push()) return true;
  acked->push({u.flow, std::exchange(u.row.wqes_acked, 0), u.qp.qpn, u.qp.epoch});
  return false;
}

bool TcpTx::tell_credit(Use& u) {
  tcp::Sender& sender = u.row.sender;
  const std::uint32_t octets = u.credit && !sender.finished() ? sender.grantable() : 0;
  if (octets == 0) return false;
  if (!credit->can_push()) return true;
  credit->push({u.flow, octets, u.qp.qpn, u.qp.epoch});
  sender.grant(octets);
  return false;
}

void TcpTx::tell_report(Use& u) {
  FlowTx& f = u.row;
  if (reports->can_push()) {
    const unsigned kind = static_cast<unsigned>(__builtin_ctz(f.reports));
    f.reports = static_cast<std::uint8_t>(f.reports & (f.reports - 1));
    reports->push({static_cast<TxReport::Kind>(kind), u.flow, f.sender.mss()});
  }
  if (f.reports != 0) reports_.push(u.flow);
}

// ---- Observers

TcpTx::Level TcpTx::Level::of(const FlowTx& row) {
  if (!row.open) return {0, false, false};
  const tcp::Sender& s = row.sender;
  return {s.snd_end() - s.snd_una(), s.congestion_window() < s.peer_window(), s.recovering()};
}

// What a use has changed.
void TcpTx::account(const Level& had, const Level& has) {
  octets_ += has.octets - had.octets;
  congested_flows_ += has.congested - had.congested;
  flows_in_flight_ += (has.octets != 0) - (had.octets != 0);
  repairing_flows_ += has.repairing - had.repairing;
  unacknowledged_.set(now(), octets_, false);
  congested_.set(now(), congested_flows_, false);
  in_flight_.set(now(), flows_in_flight_, false);
  repairing_.set(now(), repairing_flows_, false);
}

FlowState TcpTx::flow_state(FlowId flow) const {
  const FlowTx* const row = peek(flow.v);
  if (row == nullptr || !row->open) return {};
  const FlowTx& f = *row;
  return {true,
          f.sender.snd_una(),
          f.sender.snd_end() - f.sender.snd_una(),
          f.sender.congestion_window(),
          f.sender.peer_window(),
          f.sender.recovering()};
}

std::string TcpTx::waiting_for() const {
  std::string text;
  for (std::uint32_t i = 0; i < table_.rows(); ++i) {
    const FlowTx* const f = peek(i);
    if (f == nullptr || !f->open || f->sender.snd_una() == f->sender.snd_end()) continue;
    text += (text.empty() ? "" : ", ") + std::string("flow ") + std::to_string(i) + ": ACK of " +
            std::to_string(f->sender.snd_end() - f->sender.snd_una()) + " octets";
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
  d.point(windows_.point);
  d.point(ack_trace_.point);
  d.drops(drops_);
  for (std::uint32_t i = 0; i < table_.rows() && d.shows_probes(); ++i) {
    const ProbeGroup flow = d.probes().group("flow", i);
    const auto octets = [this, i, &flow](const char* name, std::uint32_t (tcp::Sender::*read)() const) {
      flow.number(name, 32, "octets", [this, i, read] {
        const FlowTx* const f = peek(i);
        return f != nullptr && f->open ? (f->sender.*read)() : 0;
      });
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
