#include "model/rnic/llp/tcp/tcp_rx.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/common/description.h"
#include "model/common/memory.h"
#include "model/rnic/llp/link_address.h"

namespace rnic {

using llp::ReceivedOctets;
using tcp::ReceivedSegment;
using tcp::Receiver;
using tcp::RxCommand;
using tcp::RxFeedback;
using tcp::RxReport;
using tcp::SegmentFault;
using Verdict = Receiver::Verdict;

namespace {

// Segments out of order, and those in order that wait for their owner: of the usual length, a window full of them.
PoolSize pieces_of(const TcpConfig& config) {
  const std::size_t window = config.window_bytes / config.announced_mss() + 1;
  return {"kept_segments", config.max_flows * (config.reorder_segments + window),
          "tcp.max_flows x (tcp.reorder_segments + tcp.window_bytes in full segments)", PoolLimit::kPeer};
}

// A frame in each cycle, from its headers to the use of its row; and those that are passed while their row is fetched.
std::size_t frames_on_their_way(const TcpConfig& config, const tcp::FlowRxTable& table) {
  const std::size_t parked = table.cached() ? 2 * std::size_t{table.cache().misses_in_flight()} : 0;
  return config.hash_cycles + LinkConfig::pipeline(config.flow_rx_table.read_cycles).depth + parked;
}

}  // namespace

TcpRx::TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
             tcp::FlowRxTable& table, const LinkAddress& station, BufferPool& pool, const tcp::SentOctets& sent)
    : Stage(nm, clk),
      config_(config),
      window_step_(std::min<std::uint32_t>(2u * config.mss(), config.window_bytes / 2)),
      paws_life_(tcp::PawsTime::life_of(config.timestamp_ns)),
      beat_bytes_(datapath.beat_bytes),
      station_(station),
      pool_(pool),
      sent_(sent),
      rows_(table),
      table_(config.max_flows),
      arrived_(frames_on_their_way(config, table)),
      memory_(config.reorder_bytes, config.reorder_segments, pieces_of(config)),
      turns_(config.max_flows),
      reports_queue_(config.max_flows),
      windows_(config.max_flows),
      uses_(config.max_flows),
      kept_(table.cached() ? config.max_flows : 0),
      lost_(kept_.size()),
      lost_released_(kept_.size()) {
  RNIC_CHECK(table.rows() == config.max_flows);
  table.owned_by(*this);
  events_.bind_to(table);
  table.bind(turn_row_);
  table.bind(frame_rows_);
}

void TcpRx::reset() {
  const std::size_t flows = rows_.rows();
  rows_.reset();
  events_.reset();
  table_ = llp::FlowTable(flows);
  flows_.level(0);
  arrived_.reset();
  memory_.reset();
  turns_ = reports_queue_ = windows_ = llp::FlowQueue(flows);
  turn_asked_ = event_next_ = false;
  reports_behind_ = kNoFlow;
  kept_.assign(kept_.size(), {});
  lost_ = lost_released_ = llp::FlowQueue(kept_.size());
  offers_ = {};
  offer_ = emission_ = {};
  offer_free_from_ = free_from_ = 0;
}

Wake TcpRx::tick() {
  if (!emission_.done()) emission_.push(*out, beat_bytes_, free_from_, horizon());
  if (!offer_.done()) offer_.push(*behind, beat_bytes_, offer_free_from_, horizon());
  if (reports_behind_ != kNoFlow && !is_leaving(reports_behind_)) {
    reports_queue_.push(std::exchange(reports_behind_, kNoFlow));
  }
  use_row();
  ask_for_turn();
  look_up();
  take_frame();
  take_event();
  if (tells_lost()) tell_lost();
  if (events_.ready() || (has_event() && events_.can_take()) || tells_lost()) return Wake::next_cycle();
  const Cycle lost = lost_released_.empty() ? kNever : std::max(free_from_, now() + 1);
  return Wake::at_cycle(std::min({next_octets(), next_offer(), next_frame(), lost}));
}

Cycle TcpRx::next_offer() { return offer_.done() ? kNever : std::max(behind->credit_at(), offer_free_from_); }

// When octets can move again: a beat of the leaving segment, or the next segment.
Cycle TcpRx::next_octets() {
  if (!emission_.done()) return std::max(out->credit_at(), free_from_);
  if (reports_behind_ != kNoFlow) return std::max(free_from_ - 1, now() + 1);
  if (now() < free_from_) return turn_is_ready() || arrived_.has_known() ? free_from_ : kNever;
  return turn_is_ready() || frame_is_ready() ? now() + 1 : kNever;
}

Cycle TcpRx::next_frame() {
  if (in->can_pop() && !arrived_.is_full()) return now() + 1;
  const ArrivedFrame* const next = arrived_.unknown();
  return next == nullptr || !frame_rows_.can_ask() ? kNever : std::max(next->at, now() + 1);
}

// ---- The rows

TcpRx::Use TcpRx::use(FlowId flow) {
  const auto [state, row] = rows_.own_in_row(flow.v, &tcp::FlowRxRow::state);
  return {flow, row.facts, state.receiver, state.stream};
}

// What follows happens with the same row, unless a later stage has no room.
void TcpRx::finish(Use& u) {
  if (u.reports) report(u);
  if (u.opens) open_window(u);
  if (kept_.empty()) return;
  Kept& kept = kept_[u.flow.v];
  kept.out_of_order = u.receiver.kept_head();
  kept.in_order = u.stream.head();
  kept.awaits_end = u.stream.awaits_end();
}

// One a cycle: that of an event, or one with which octets leave, in turn if both are there. Kept octets of a flow that
// was switched to RDMA go before any later frame.
void TcpRx::use_row() {
  const bool event = events_.ready();
  const bool turn = !emitting() && turn_is_ready();
  const std::uint32_t frame = turn || emitting() ? ArrivedFrames::kNone : ready_frame();
  const bool leaves = turn || frame != ArrivedFrames::kNone;
  if (event && (event_next_ || !leaves)) {
    event_next_ = false;
    return use_event();
  }
  event_next_ |= leaves;
  if (turn) use_turn();
  else if (leaves) use_frame(frame);
}

void TcpRx::use_event() {
  const FlowId flow = events_.id();
  if (!kept_.empty() && std::holds_alternative<RxCommand>(events_.front())) --kept_[flow.v].commands;
  // Octets of an earlier use of the number are none of this one's window.
  const bool late = events_.epoch() != uses_[flow.v] && std::holds_alternative<RxConsumed>(events_.front());
  if (late) return events_.drop();
  if (!events_.ok()) {
    execute_lost();
    return events_.drop();
  }
  Use u = use(events_.id());
  std::visit([&](auto& e) { execute(u, e); }, events_.front());
  finish(u);
  events_.drop();
}

// The row stays until all that the flow kept has left.
void TcpRx::use_turn() {
  if (!turn_row_.ok()) {
    lose(turns_.front());
    return end_turn();
  }
  Use u = use(turns_.front());
  const bool stays = leave_next(u);
  finish(u);
  if (!stays || (u.stream.empty() && !u.stream.end_due())) end_turn();
}

void TcpRx::end_turn() {
  turn_row_.drop();
  turns_.pop();
  turn_asked_ = false;
}

// Kept octets, or the end after them. False: there are none any more, or early_placement may still be writing them.
// Then they wait for its answer, so that nothing is written to memory after their delivery; other flows do not wait.
bool TcpRx::leave_next(Use& u) {
  if (u.stream.end_due()) {
    emit_end(u);
    return true;
  }
  if (!u.stream.rdma() || u.stream.empty()) return false;
  const ReceivedOctets& first = u.stream.front(memory_.pool);
  if (offers_.awaits(u.flow, first.seq, first.end())) return false;
  emit(u, u.stream.take_front(memory_.pool));
  u.reports = u.stream.empty();  // a FIN may have waited for this
  return true;
}

// ---- What asks for rows

// One a cycle.
void TcpRx::take_event() {
  if (!events_.can_take()) return;
  if (commands->can_pop()) {
    RxCommand c = commands->pop();
    if (!kept_.empty()) ++kept_[c.flow.v].commands;
    events_.take(c.flow, uses_[c.flow.v], std::move(c));
  } else if (consumed->can_pop()) {
    const RxConsumed c = consumed->pop();
    events_.take(c.flow, uses_[c.flow.v], c);
  } else if (ended->can_pop()) {
    const StreamEnded e = ended->pop();
    events_.take(e.flow, uses_[e.flow.v], e);
  } else if (!offers_.empty() && early->can_pop()) {
    EarlyPlaced e = early->pop();
    events_.take(e.flow, uses_[e.flow.v], std::move(e));
  } else if (!windows_.empty() && feedback->can_push()) {
    const FlowId flow = windows_.pop();
    events_.take(flow, uses_[flow.v], WindowTurn{});
  } else if (!reports_queue_.empty() && reports->can_push()) {
    const FlowId flow = reports_queue_.pop();
    events_.take(flow, uses_[flow.v], ReportTurn{});
  }
}

bool TcpRx::has_event() {
  return commands->can_pop() || consumed->can_pop() || ended->can_pop() || (!offers_.empty() && early->can_pop()) ||
         (!windows_.empty() && feedback->can_push()) || (!reports_queue_.empty() && reports->can_push());
}

// Ahead of the use, so that the octets of a flow leave without a gap.
void TcpRx::ask_for_turn() {
  if (turn_asked_ || turns_.empty()) return;
  turn_row_.ask(turns_.front().v);
  turn_asked_ = true;
}

// Of a frame that is no valid segment this is all.
void TcpRx::take_frame() {
  if (!in->can_pop() || arrived_.is_full()) return;
  ArrivedFrame a;
  a.frame = in->pop();
  const Frame& frame = a.frame;
  const SegmentFault fault = tcp::read_segment({frame.data(), frame.bytes}, station_.ip, a.segment);
  if (fault == SegmentFault::kNone) {
    ++counters_.segments;
  } else if (fault != SegmentFault::kNotForUs || !read_path_mtu(a)) {
    drops(now(), frame.buf->owner(), frame.bytes, to_string(fault));
    return counters_.count(fault);
  }
  a.bucket = table_.home(a.segment.key);
  a.at = now() + config_.hash_cycles;
  arrived_.add(std::move(a));
}

// "Fragmentation needed" about a segment of one of our flows; tcp_tx knows whether that is in flight.
bool TcpRx::read_path_mtu(ArrivedFrame& a) const {
  const auto told = tcp::read_path_mtu({a.frame.data(), a.frame.bytes}, station_.ip);
  if (!told) return false;
  a.path_mtu = true;
  a.mtu = std::max<std::uint16_t>(1, told->mtu);
  a.segment.key = told->key;
  a.segment.header.seq = told->seq;
  return true;
}

// One bucket a cycle. A frame of no flow needs no row.
void TcpRx::look_up() {
  ArrivedFrame* const a = arrived_.unknown();
  if (a == nullptr || now() < a->at || !frame_rows_.can_ask()) return;
  a->flow = table_.find_in(a->bucket, a->segment.key);
  if (a->flow == kNoFlow && table_.is_full(a->bucket)) {
    ++counters_.more_buckets;
    a->bucket = table_.next(a->bucket);
    a->at = now() + config_.hash_cycles;
    return;
  }
  a->has_asked = a->flow != kNoFlow;
  if (a->has_asked) frame_rows_.ask(a->flow.v, arrived_.unknown_number());
  arrived_.on_looked_up();
}

// ---- Commands

void TcpRx::execute(Use& u, const RxCommand& c) {
  switch (c.kind) {
    case RxCommand::Kind::kAwaitSyn:
      enter(c.flow, c.key);
      return u.receiver.await_syn();
    case RxCommand::Kind::kOpen:
      if (!u.receiver.in_use()) enter(c.flow, c.key);
      u.stream = {};
      return u.receiver.open(c, config_.window_bytes, paws_time());
    case RxCommand::Kind::kRead:
      RNIC_CHECK_MSG(!u.stream.read_pending(), std::string(name()) + ": a second read of one flow");
      if (!u.stream.read(c.bytes)) return;
      RNIC_CHECK_MSG(c.bytes != 0 && c.bytes <= pool_.block_bytes(), std::string(name()) + ": a read is too long");
      u.reports = true;
      return;
    case RxCommand::Kind::kUnread:
      return u.stream.unread();
    case RxCommand::Kind::kEnterRdma:
      if (!u.stream.enter_rdma()) return;
      if (!u.stream.empty()) turns_.push(c.flow);
      u.reports = true;
      return;
    case RxCommand::Kind::kDiscard:
      if (std::uint32_t room = 0; u.stream.discard(memory_.pool, room)) {
        give_room(u, room);
        u.reports = true;
      }
      return;
    case RxCommand::Kind::kRelease:
      return release(u);
  }
}

void TcpRx::enter(FlowId flow, const llp::FlowKey& key) {
  table_.insert(flow, key);
  flows_.rise();
}

// No further frame finds it.
void TcpRx::forget(FlowId flow) {
  table_.erase(flow);
  flows_.fall();
  // Another flow may have come back to an earlier bucket: a look-up that goes on behind that one begins again.
  if (ArrivedFrame* const next = arrived_.unknown()) next->bucket = table_.home(next->segment.key);
  arrived_.forget(flow);
}

void TcpRx::release(Use& u) {
  ++uses_[u.flow.v];
  if (u.receiver.in_use()) forget(u.flow);
  u.receiver.clear(memory_);
  u.receiver = {};
  u.stream.release(memory_.pool);
  u.reports = true;
}

// ---- Flows whose row is lost: its home could not give it, or not what was written there

// The connection ends, as far as it has not.
void TcpRx::lose(FlowId flow) {
  if (table_.has(flow)) lost_.push(flow);
}

// What is known of it without the row.
void TcpRx::execute_lost() {
  const FlowId flow = events_.id();
  if (const auto* command = std::get_if<RxCommand>(&events_.front())) {
    if (command->kind == RxCommand::Kind::kRelease) return release_lost(flow);
  } else if (const auto* placed = std::get_if<EarlyPlaced>(&events_.front())) {
    offers_.on_answer(*placed);
  } else if (std::holds_alternative<StreamEnded>(events_.front())) {
    kept_[flow.v].awaits_end = false;
  }
  lose(flow);
}

void TcpRx::release_lost(FlowId flow) {
  ++uses_[flow.v];
  if (table_.has(flow)) forget(flow);
  Kept& kept = kept_[flow.v];
  tcp::ReassemblyQueue::give_back(memory_, std::exchange(kept.out_of_order, llp::kNil));
  memory_.pool.give_back_from(std::exchange(kept.in_order, llp::kNil));
  lost_released_.push(flow);
}

// That it is released, when nothing of it is on its way any more.
bool TcpRx::can_tell_lost() {
  if (!reports->can_push()) return false;
  if (!lost_.empty()) return true;
  const FlowId flow = lost_released_.front();
  return !is_leaving(flow) && !offers_.awaits(flow) && !kept_[flow.v].awaits_end;
}

void TcpRx::tell_lost() {
  RxReport r;
  r.kind = lost_.empty() ? RxReport::Kind::kReleased : RxReport::Kind::kLost;
  r.flow = lost_.empty() ? lost_released_.pop() : lost_.pop();
  reports->push(std::move(r));
}

// ---- Events of the stages behind

void TcpRx::execute(Use& u, const RxConsumed& c) {
  if (u.receiver.is_open()) give_room(u, c.bytes);
}

void TcpRx::execute(Use& u, const StreamEnded&) {
  u.stream.on_end_passed();
  u.reports = true;
}

// Reports an opened window to tcp_tx unless a segment's feedback has done so.
void TcpRx::open_window(Use& u) {
  if (!u.receiver.is_open() || u.receiver.window_reported()) return;
  if (feedback->can_push()) feedback->push(u.receiver.window_update(u.flow));
  else windows_.push(u.flow);
}

// ---- Frames

// A frame comes after the commands about its flow, also if its row is there before theirs.
bool TcpRx::has_commands(FlowId flow) {
  if (kept_.empty() || flow == kNoFlow) return false;
  return kept_[flow.v].commands != 0 || commands->any([flow](const RxCommand& c) { return c.flow == flow; });
}

// Of those that were looked up: the oldest one whose row is there, or which needs none, if there is room for its
// feedback or its report. One whose row is fetched, or comes after another one's, is passed; those of its flow follow
// it.
std::uint32_t TcpRx::ready_frame() {
  if (!arrived_.has_known()) return ArrivedFrames::kNone;
  const bool row = frame_rows_.can_use();
  const std::uint32_t ready = arrived_.next([&](const ArrivedFrame& a, std::uint32_t number) {
    if (!a.has_asked || (row && frame_rows_.front().tag == number)) {
      return has_commands(a.flow) ? FrameUse::kAwaited : FrameUse::kNow;
    }
    return row || frame_rows_.awaits_fetch(number) ? FrameUse::kPassed : FrameUse::kAwaited;
  });
  return ready != ArrivedFrames::kNone && feedback->can_push() && reports->can_push() ? ready : ArrivedFrames::kNone;
}

void TcpRx::use_frame(std::uint32_t number) {
  ArrivedFrame& a = arrived_.at(number);
  const bool known = a.flow != kNoFlow;
  if (known && !frame_rows_.ok()) {
    lose(a.flow);
    drops(now(), a.frame.buf->owner(), a.frame.bytes, "the context of its flow is lost");
  } else if (const bool open = known && frame_rows_.row().state.receiver.is_open(); a.path_mtu) {
    on_path_mtu(a, open);
  } else if (open) {
    Use u = use(a.flow);
    on_segment(u, a.segment, a.frame);
    finish(u);
  } else {
    reports->push(tcp::report_of(a.flow, a.segment));
  }
  if (a.has_asked) frame_rows_.drop();
  arrived_.drop(number);
}

void TcpRx::on_path_mtu(const ArrivedFrame& a, bool open) {
  if (!open) {
    drops(now(), a.frame.buf->owner(), a.frame.bytes, "path MTU of no flow");
    return counters_.count(SegmentFault::kNotForUs);
  }
  ++counters_.path_mtu_reports;
  RxFeedback fb;
  fb.flow = a.flow;
  fb.seq = a.segment.header.seq;
  fb.path_mtu = a.mtu;
  feedback->push(fb);
}

void TcpRx::on_segment(Use& u, const ReceivedSegment& s, Frame& frame) {
  const Receiver::Arrival a = u.receiver.on_segment(memory_, s, frame.buf, sent_.snd_nxt(u.flow), paws_time());
  counters_.count(a);
  if (a.verdict == Verdict::kReset) {
    u.stream.on_reset();
    u.reports = true;
    return feedback->push(u.receiver.feedback(u.flow, s, a));
  }
  const bool bad_ack = a.verdict == Verdict::kBadAck || a.verdict == Verdict::kRefused;
  if (const char* const why = a.duplicate       ? "received before"
                              : a.beyond_window ? "beyond the window"
                              : bad_ack         ? "acknowledges what was not sent"
                              : a.dropped       ? "no room out of order"
                                                : nullptr) {
    drops(now(), frame.buf->owner(), frame.bytes, why);
  }
  if (a.verdict == Verdict::kRefused) return reports->push(tcp::report_of(u.flow, s));
  if (a.verdict == Verdict::kAcceptable) on_acceptable(u, a, std::move(frame.buf));
  if (a.verdict == Verdict::kOutside && a.fin) report_fin(u);
  if (a.for_sender) feedback->push(u.receiver.feedback(u.flow, s, a));
}

void TcpRx::on_acceptable(Use& u, const Receiver::Arrival& a, BufferRef&& buf) {
  if (!a.offered.empty()) offer(u, a, buf);
  if (!a.in_order.empty()) deliver(u, llp::received_octets(std::move(buf), a.in_order, a.in_order_seq));
  if (a.fills_gap) {
    for (ReceivedOctets octets; u.receiver.take_next(memory_, octets);) keep(u, std::move(octets));
  }
  if (a.fin || (a.fills_gap && u.receiver.finished())) report_fin(u);
  if (a.out_of_order || a.fills_gap) counters_.count_peaks(memory_);
}

void TcpRx::report_fin(Use& u) {
  u.stream.on_fin();
  u.reports = true;
}

// The octets of a segment in order: to the deframer at once, if none of the flow wait.
void TcpRx::deliver(Use& u, ReceivedOctets&& octets) {
  if (!u.stream.rdma() || !u.stream.empty()) return keep(u, std::move(octets));
  counters_.payload_bytes += octets.bytes;
  emit(u, std::move(octets));
}

// For the firmware, or after what already waits.
void TcpRx::keep(Use& u, ReceivedOctets&& octets) {
  counters_.payload_bytes += octets.bytes;
  if (u.stream.discards()) return give_room(u, octets.bytes);
  if (u.stream.rdma() && u.stream.empty()) turns_.push(u.flow);
  u.stream.append(memory_.pool, std::move(octets));
  u.reports |= u.stream.read_pending();
}

// ---- Early placement

// Only new octets are offered, so none is ever written early twice.
void TcpRx::offer(const Use& u, const Receiver::Arrival& a, const BufferRef& buf) {
  if (!config_.early_placement || !u.stream.rdma()) return;
  if (!offer_.done() || now() < offer_free_from_ || !behind->can_push()) {
    ++counters_.not_offered;
    return;
  }
  const std::uint32_t seq = a.in_order_seq + a.offered_distance;
  const std::uint64_t offset = u.stream.end(memory_.pool) + a.offered_distance;
  offers_.add(u.flow, seq, static_cast<std::uint32_t>(a.offered.size()), offset);
  offer_.start(u.flow, u.facts, llp::received_octets(buf, a.offered, seq), offset);
  offer_free_from_ = now() + 1;
  offer_.push(*behind, beat_bytes_, offer_free_from_, horizon());
}

// With the last answer to a segment, octets or the release of the flow may go on that have waited for it.
void TcpRx::execute(Use& u, EarlyPlaced& placed) {
  const std::uint32_t seq = offers_.on_answer(placed);
  if (placed.last) {
    u.reports = true;
    if (u.stream.rdma() && !u.stream.empty()) turns_.push(u.flow);
  }
  if (placed.bytes == 0) return;
  // After a hole; or in order by now, but not passed on while this answer was due. Nothing of it is written again.
  if (u.receiver.replace(memory_, seq, placed.bytes, placed.header, kPlacedHeaderBytes)) {
    counters_.early_saved += placed.bytes - kPlacedHeaderBytes;
    counters_.count_peaks(memory_);
  } else if (!u.stream.replace(memory_.pool, seq, placed.bytes, std::move(placed.header), kPlacedHeaderBytes)) {
    return;
  }
  ++counters_.early_fpdus;
}

// ---- Beats

void TcpRx::emit(Use& u, ReceivedOctets&& octets) {
  if (qps_ != nullptr) qps_->prefetch(u.facts.qpn.v);
  const std::uint64_t offset = u.stream.leave(octets.bytes);
  emission_.start(u.flow, u.facts, std::move(octets), offset);
  start_emission();
}

// The beat that represents a flow's FIN or RST, after all its octets.
void TcpRx::emit_end(Use& u) {
  emission_.start_end(u.flow, u.facts, pool_.take(), u.stream.end_kind(), u.stream.leave(0));
  u.stream.on_end_sent();
  start_emission();
}

// A frame takes one cycle for its headers and one for each beat of payload.
void TcpRx::start_emission() {
  free_from_ = now() + 1;
  emission_.push(*out, beat_bytes_, free_from_, horizon());
}

// ---- Reports

void TcpRx::report(Use& u) {
  if (!reports->can_push() || report_one(u)) reports_queue_.push(u.flow);
}

// True if the flow may have more to report.
bool TcpRx::report_one(Use& u) {
  using Report = tcp::ReceivedStream::Report;
  const bool written = u.stream.released() && offers_.awaits(u.flow);
  RxReport r;
  r.flow = u.flow;
  switch (u.stream.next_report(memory_.pool, is_leaving(u.flow) || written)) {
    case Report::kNothing:
      return false;
    case Report::kLater:
      if (is_leaving(u.flow)) reports_behind_ = u.flow;  // otherwise the last answer of early_placement has it reported
      return false;
    case Report::kSendEnd:
      turns_.push(u.flow);
      return false;
    case Report::kOctets:
      r.kind = RxReport::Kind::kStream;
      r.bytes = u.stream.end_read(memory_.pool);
      r.data = pool_.take();
      u.stream.take(memory_.pool, {r.data->bytes(), r.bytes});
      give_room(u, r.bytes);
      reports->push(std::move(r));
      return true;
    case Report::kFin:
      r.kind = RxReport::Kind::kFin;
      r.told_in_band = u.stream.end_passed();
      break;
    case Report::kReset:
      r.kind = RxReport::Kind::kReset;
      r.syn_acked = u.receiver.syn_acked();
      break;
    case Report::kReleased:
      r.kind = RxReport::Kind::kReleased;
      break;
  }
  reports->push(std::move(r));
  return u.stream.reset_to_report();
}

void TcpRx::describe(const Description& d) {
  d.counters(counters_);
  d.series("tcp_rx.out_of_order", 110, counters_, &TcpRxCounters::out_of_order);
  memory_.pool.describe(d);
  describe_memory(d.part("reorder_memory").stats(),
                  {memory_.max_bytes, memory_.max_bytes, 8, "octets", "tcp.reorder_bytes"},
                  counters_.reorder_bytes_max);
  describe_memory(d.part("flow_hash").stats(),
                  {table_.places(), table_.places(), llp::FlowTable::slot_bits(rows_.rows()), "slots",
                   "2 x tcp.max_flows at least, a power of two, in buckets of 4"},
                  flows_);
  d.drops(drops);
  for (std::uint32_t i = 0; i < rows_.rows() && d.shows_probes(); ++i) {
    const ProbeGroup flow = d.probes().group("flow", i);
    const auto octets = [this, i, &flow](const char* name, std::uint32_t (Receiver::*read)() const) {
      flow.number(name, 32, "octets", [this, i, read] {
        const tcp::FlowRxRow* const row = rows_.peek(i);
        return row != nullptr && row->state.receiver.is_open() ? (row->state.receiver.*read)() : 0;
      });
    };
    octets("rcv_nxt", &Receiver::rcv_nxt);
    octets("rcv_window", &Receiver::receive_window);
  }
}

}  // namespace rnic
