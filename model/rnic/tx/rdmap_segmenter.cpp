#include "model/rnic/tx/rdmap_segmenter.h"

#include "model/common/description.h"
#include "model/rnic/context/read_source.h"

namespace rnic {

using wire::Opcode;

RdmapSegmenter::RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts,
                               BufferPool& buffers, const PerLlp<LlpTraits>& llps, const RdmapSegmenterConfig& config)
    : Stage(nm, clk),
      contexts_(contexts),
      buffers_(buffers),
      events_(*this, "rdmap_segmenter_event", config.events),
      scheduler_(contexts, llps, config.turn_fpdus) {
  contexts.stag_table.bind(element_);
  source_.bind_to(contexts.stag_table);
  contexts.tx_table.owned_by(*this);
  events_.bind_to(contexts.tx_table);
  contexts.tx_table.bind(turn_row_);
}

void RdmapSegmenter::keep_in(LlpId llp, llp::TransmitMemory& memory) {
  memory.serve(*this);
  scheduler_.keep_in(llp, memory);
}

void RdmapSegmenter::bound_by(OutstandingRequests& outstanding) {
  outstanding.serve(*this);
  scheduler_.bound_by(outstanding);
}

// ---- Events

// The inputs that have an event, one bit each. A response comes after the news that it is due.
std::uint32_t RdmapSegmenter::offered() {
  std::uint32_t inputs = 0;
  for (unsigned n = 0; n < kInputs; ++n) {
    inputs |= std::uint32_t{input(n, [](auto& port) { return port->can_pop(); })} << n;
  }
  constexpr std::uint32_t kUnblock = 1u << 0, kResponses = 1u << 7 | 1u << 8;
  return (inputs & kUnblock) != 0 ? inputs & ~kResponses : inputs;
}

// One a cycle, of the inputs in turn.
bool RdmapSegmenter::take_event() {
  if (!events_.can_take()) return false;
  const std::uint32_t inputs = offered();
  if (inputs == 0) return false;
  const std::uint32_t next = inputs >> turn_of_inputs_ << turn_of_inputs_;
  const auto n = static_cast<unsigned>(__builtin_ctz(next != 0 ? next : inputs));
  turn_of_inputs_ = (n + 1) % kInputs;
  input(n, [this](auto& port) { file(port->pop()); });
  return true;
}

template <class Event>
void RdmapSegmenter::file(Event of_qp) {
  const Qpn qpn = of_qp.qpn;
  const std::uint32_t epoch = of_qp.epoch;
  events_.take(qpn, epoch, std::move(of_qp));
}

// One a cycle, with its row. That of an earlier use of the QP's number is over.
bool RdmapSegmenter::execute() {
  if (!events_.ready()) return false;
  if (!events_.ok()) return execute_lost();
  const TxRow& row = events_.row();
  if (row.qp.epoch == events_.epoch()) {
    if (!has_room(events_.front())) return false;
    const TxQp of = scheduler_.use(events_.id(), row);
    std::visit([&](auto& event_of_qp) { take(of, event_of_qp); }, events_.front());
    scheduler_.used(of);
  }
  events_.drop();
  return true;
}

// Never of `event`: the firmware may be waiting for a place here when it has to make room there.
bool RdmapSegmenter::has_room(const TxEvent& of_qp) {
  if (std::holds_alternative<StagRequestDone>(of_qp)) return issued->can_push() && taken->can_push();
  const auto* const work = std::get_if<TxInternalWork>(&of_qp);
  return work == nullptr || work->kind != TxInternalWork::Kind::kFlush || (flush_rq->can_push() && issued->can_push());
}

// What was on the chip is lost with the row. What is posted now completes with an error, and the firmware is answered:
// first of all a drain that waits.
bool RdmapSegmenter::execute_lost() {
  if (!issued->can_push() || !taken->can_push() || !flush_rq->can_push()) return false;
  const Qpn qpn = events_.id();
  const std::uint32_t epoch = events_.epoch();
  if (contexts_.is_alive(qpn, epoch)) {
    if (scheduler_.lose_drain(qpn)) {
      mark(qpn, epoch, WqeIssued::Marker::kDrain);
      return true;
    }
    const auto* const work = std::get_if<TxInternalWork>(&events_.front());
    if (const auto* const f = std::get_if<FetchedWqe>(&events_.front())) {
      WqeIssued flushed{qpn, f->wqe.wr_id, 0, f->wqe.opcode, abi::WcStatus::kWrFlushErr};
      flushed.epoch = epoch;
      scheduler_.begin_lost(qpn);
      issued->push(flushed);
      taken->push({qpn, epoch});
    } else if (work != nullptr && work->kind == TxInternalWork::Kind::kFlush) {
      mark(qpn, epoch, WqeIssued::Marker::kFlush);
      flush_rq->push({qpn, epoch, work->recv_cq});
    } else if (work != nullptr && work->kind == TxInternalWork::Kind::kDrain) {
      mark(qpn, epoch, WqeIssued::Marker::kDrain);
    }
    lose(qpn);
  }
  events_.drop();
  return true;
}

// The firmware hears once that the QP's row is lost.
void RdmapSegmenter::lose(Qpn qpn) {
  const QpLife life = contexts_.life(qpn);
  if (!scheduler_.lose(qpn, life.epoch) || !life.valid) return;
  errors_.push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
}

// One a cycle.
bool RdmapSegmenter::report() {
  if (errors_.empty() || !event->can_push()) return false;
  event->push(errors_.pop());
  return true;
}

void RdmapSegmenter::take(const TxQp& of, const TxCredit& c) {
  of.state.credit += c.bytes;
  scheduler_.list(of);
}

void RdmapSegmenter::take(const TxQp& of, const TxUnblock& u) {
  QpTx& q = of.state;
  switch (u.kind) {
    case TxUnblock::Kind::kFirstFpdu:
      q.unfenced = true;
      break;
    case TxUnblock::Kind::kReadDone:
      q.read_done();
      break;
    case TxUnblock::Kind::kRequest:
      ++q.due;
      return;
    case TxUnblock::Kind::kPeerClosed:
      q.peer_closed = true;
      break;
    case TxUnblock::Kind::kSinkEnded:
      if (q.sinks != 0) --q.sinks;
      break;
  }
  scheduler_.list(of);
}

// Later requests of the QP have waited for it. The end of its stream may have completed it meanwhile.
void RdmapSegmenter::take(const TxQp& of, const StagRequestDone& done) {
  QpTx& q = of.state;
  if (q.epoch != done.epoch || !std::exchange(q.working, false)) return;
  if (done.status != abi::WcStatus::kSuccess) fail(of, done.status);
  else complete(of, 0, (scheduler_.oldest(q).wqe.flags & abi::kWqeSignaled) != 0, done.status);
  scheduler_.list(of);
}

// It is sent when the firmware says so, and nothing of the host before it.
void RdmapSegmenter::take(const TxQp& of, TerminateMessage& t) {
  of.state.halted = true;
  scheduler_.give_up(of.qpn);
  scheduler_.keep_terminate(of.state, std::move(t.buf), t.bytes);
}

void RdmapSegmenter::take(const TxQp& of, const ReadWork& r) {
  respond(of, response_message(r));
  scheduler_.answer(of.state, r);
}

void RdmapSegmenter::take(const TxQp& of, const AtomicWork& a) {
  respond(of, response_message(a));
  of.state.source.address = a.response.original;
  ReadWork asked{a.qpn, {}};
  asked.segment.owner = a.owner;
  scheduler_.answer(of.state, asked);
}

void RdmapSegmenter::respond(const TxQp& of, const OutboundMessage& response) {
  QpTx& q = of.state;
  RNIC_CHECK(!q.response.active);  // the IRRQ passes on one request of a QP at a time
  q.response = response;
  q.number(q.response);
  scheduler_.list(of);
}

void RdmapSegmenter::take(const TxQp& of, FetchedWqe& f) { scheduler_.post(of, std::move(f)); }

void RdmapSegmenter::take(const TxQp& of, const TxInternalWork& work) {
  QpTx& q = of.state;
  switch (work.kind) {
    case TxInternalWork::Kind::kDrain:
      scheduler_.begin_drain(of);
      break;
    case TxInternalWork::Kind::kFlush:
      q.flushing = true;
      q.request.active = q.response.active = q.working = false;
      scheduler_.drop_internal(q);
      mark(of.qpn, of.ctx.epoch, WqeIssued::Marker::kFlush);
      flush_rq->push({of.qpn, of.ctx.epoch, work.recv_cq});
      break;
    case TxInternalWork::Kind::kTerminate:
      return prepare_terminate(of, work);
    default:
      return scheduler_.post(of, work);
  }
  scheduler_.list(of);
}

// The firmware's own errors are the setup's, which return no headers (RFC 6581 section 8). One Terminate is the last of
// its stream (RFC 5040 section 4.8).
void RdmapSegmenter::prepare_terminate(const TxQp& of, const TxInternalWork& work) {
  QpTx& q = of.state;
  // A responder that never saw a valid FPDU may send none (RFC 5044 section 7.1.2 rule 4): the stream just ends. An
  // error found after MPA belongs to a segment, whose headers are returned unless it is too short to have any.
  const bool saw_a_segment = wire::returns_ddp_header(work.cause);
  if (q.fenced(of.ctx) && !saw_a_segment) return;
  if (std::exchange(q.terminated, true)) return;
  q.halted = true;
  if (q.terminate.empty()) {
    BufferRef buffer = buffers_.take(contexts_.internal_work(of.qpn));
    const wire::TerminateHeader header{work.cause, {}, {}, {}};
    std::uint8_t* const at = buffer->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
    const auto bytes = static_cast<std::uint8_t>(header.emit({at, wire::TerminateHeader::kControlBytes}));
    scheduler_.keep_terminate(q, std::move(buffer), bytes);
  }
  scheduler_.post(of, work);
}

// ---- Turns

// What of STags the QP's next FPDU needs to know.
TxTurn::Needs RdmapSegmenter::needs(const QpTx& q, Source next) const {
  if (next == Source::kResponse) {
    const bool reads = q.response.opcode == Opcode::kReadResponse && q.response.done != q.response.bytes;
    return reads ? TxTurn::Needs::kSource : TxTurn::Needs::kNothing;
  }
  const bool begins = next == Source::kRequest && !q.request.active && q.internal.empty();
  return begins ? TxTurn::Needs::kElements : TxTurn::Needs::kNothing;
}

// One a cycle: the row of the QP that is next is asked for.
bool RdmapSegmenter::begin_turn() {
  if (scheduler_.nobody() || !turn_row_.can_ask()) return false;
  turn_row_.ask(scheduler_.turn().v);
  return true;
}

// One a cycle, when its row is there and the one before has asked for all that it needs.
bool RdmapSegmenter::open_turn() {
  if (!turn_row_.can_use() || turns_.size() == kTurns || (!turns_.empty() && turns_.back().to_ask != 0)) return false;
  const Qpn qpn{turn_row_.front().index};
  TxTurn& turn = turns_.add();
  turn.qpn = qpn;
  turn.epoch = contexts_.epoch(qpn);
  turn.needs = TxTurn::Needs::kNothing;
  turn.to_ask = turn.to_judge = 0;
  if (turn_row_.ok()) {
    const auto& [ctx, q] = turn_row_.row();
    if (q.epoch == ctx.epoch) turn.needs = needs(q, scheduler_.next(qpn, ctx, q));
    if (turn.needs == TxTurn::Needs::kSource) {
      turn.stag[0] = Stag{scheduler_.read(q).request.src_stag};
      turn.to_ask = 1;
    } else if (turn.needs == TxTurn::Needs::kElements) {
      const FetchedWqe& f = scheduler_.oldest(q);
      turn.status = check_form(ctx, f);
      if (turn.status == abi::WcStatus::kSuccess) turn.to_ask = turn.to_judge = elements_of(f.wqe, turn.stag);
    }
  }
  turn_row_.keep();
  return true;
}

// For the youngest turn.
bool RdmapSegmenter::ask() {
  if (turns_.empty() || turns_.back().to_ask == 0) return false;
  TxTurn& turn = turns_.back();
  if (turn.needs == TxTurn::Needs::kSource) {
    if (!source_.can_ask()) return false;
    source_.ask(turn.take_to_ask());
  } else {
    if (!element_.can_ask()) return false;
    element_.ask(index_of(turn.take_to_ask()));
  }
  return true;
}

// One element of the oldest turn's request, if that is still there.
bool RdmapSegmenter::judge() {
  if (turns_.empty() || turns_.front().to_judge == 0 || !element_.can_use()) return false;
  TxTurn& turn = turns_.front();
  const StagRow* const row = element_.ok() ? &element_.row() : nullptr;
  if (turn_row_.ok_kept(0) && turn_row_.row_kept(0).state.epoch == turn.epoch) {
    const auto& [ctx, q] = turn_row_.row_kept(0);
    turn.judge(row, ctx, scheduler_.oldest(q).wqe);
  } else {
    turn.skip();
  }
  element_.drop();
  return true;
}

// One FPDU of the QP that has the oldest turn. What it sends is decided now: if that needs other entries than the turn
// has read, it takes another turn.
bool RdmapSegmenter::cut() {
  if (turns_.empty()) return false;
  const TxTurn& turn = turns_.front();
  const bool of_source = turn.needs == TxTurn::Needs::kSource;
  if (turn.to_ask != 0 || turn.to_judge != 0 || (of_source && !source_.ready())) return false;
  if (!out->can_push() || !errors_.empty() || !issued->can_push() || !taken->can_push() || !read_sent->can_push() ||
      !answered->can_push() || !atomic_issued->can_push() || !read_issued->can_push() ||
      !read_issued_early->can_push() || !stag_request->can_push() || !contexts_.tx_table.can_own(turn.qpn.v)) {
    return false;
  }
  if (turn_row_.ok_kept(0)) {
    const TxQp of = scheduler_.use(turn.qpn, turn_row_.row_kept(0));
    take_turn(turn, of);
    scheduler_.over(of);
    scheduler_.used(of);
  } else if (turn.epoch != contexts_.epoch(turn.qpn)) {
    scheduler_.again(turn.qpn);  // the row was that of the number's last user
  } else {
    if (scheduler_.lose_drain(turn.qpn)) mark(turn.qpn, turn.epoch, WqeIssued::Marker::kDrain);
    lose(turn.qpn);
    scheduler_.over(turn.qpn);
  }
  if (of_source) source_.drop();
  turn_row_.release_front();
  turns_.drop();
  return true;
}

void RdmapSegmenter::take_turn(const TxTurn& turn, const TxQp& of) {
  const Source next = scheduler_.next(of);
  const TxTurn::Needs needed = needs(of.state, next);
  if (of.state.epoch == turn.epoch && (needed == TxTurn::Needs::kNothing || needed == turn.needs)) send(turn, of, next);
}

void RdmapSegmenter::send(const TxTurn& turn, const TxQp& of, Source next) {
  QpTx& q = of.state;
  switch (next) {
    case Source::kNone:
      return;  // the QP went away meanwhile
    case Source::kFlush:
      scheduler_.begin(of);
      return complete(of, 0, true, abi::WcStatus::kWrFlushErr);
    case Source::kDrain:
      scheduler_.end_drain(of);
      return mark(of.qpn, of.ctx.epoch, WqeIssued::Marker::kDrain);
    case Source::kLocalWork:
      return begin_stag_work(of);
    case Source::kResponse:
      send_response(of);
      q.response_turn = false;
      return;
    case Source::kRequest:
      send_request(turn, of);
      q.response_turn = true;
      return;
  }
}

void RdmapSegmenter::send_request(const TxTurn& turn, const TxQp& of) {
  QpTx& q = of.state;
  const bool between = !q.request.active || !q.open(of.ctx);  // a partly sent message is dropped
  if (between && !q.internal.empty()) {
    start_internal(of);
    expect_response(of, nullptr);
    return send_segment(of, q.request, nullptr, buffer_for_internal(of));
  }
  if (!q.request.active && !start_request(turn, of)) return;
  const FetchedWqe& f = scheduler_.oldest(q);
  const abi::Wqe& w = f.wqe;
  expect_response(of, &w);
  send_segment(of, q.request, &f, buffers_.take(contexts_.request(of.qpn, w.wr_id)));
  if (q.request.active) return;
  complete(of, q.request.bytes, (w.flags & abi::kWqeSignaled) != 0, abi::WcStatus::kSuccess);
}

void RdmapSegmenter::send_response(const TxQp& of) {
  QpTx& q = of.state;
  if (q.response.opcode == Opcode::kReadResponse && !find_source(of)) return;
  send_segment(of, q.response, nullptr, buffers_.take(scheduler_.read(q).segment.owner));
  if (q.response.active) return;
  scheduler_.answered(q);
  q.response_done();
  read_sent->push({of.qpn, of.ctx.epoch});
  answered->push({of.qpn, of.ctx.epoch});
}

// False if the source was revoked: the response ends there, and its IRRQ slot stays taken, for the stream is over.
bool RdmapSegmenter::find_source(const TxQp& of) {
  QpTx& q = of.state;
  const ReadWork& read = scheduler_.read(q);
  const wire::ReadRequest rest = rest_of(read.request, q.response.done);
  const StagContext* const named = rest.size != 0 ? source_.named() : nullptr;
  if (const auto cause = check_read_source(named, of.ctx.user(of.qpn), rest)) {
    errors_.push({QpEvent::Kind::kStreamError, of.qpn, *cause, read.segment.with(rest)});
    q.response.active = false;
    q.halted = true;
    ++counters_.revoked;
    return false;
  }
  if (named != nullptr) {
    const MemoryPiece m = named->piece(rest.src_stag, rest.src_to, rest.size);
    q.source = {m.address, m.list, m.region};
  }
  return true;
}

// False if the request cannot be sent at all.
bool RdmapSegmenter::start_request(const TxTurn& turn, const TxQp& of) {
  QpTx& q = of.state;
  scheduler_.begin(of);
  if (turn.status != abi::WcStatus::kSuccess) {
    fail(of, turn.status);
    return false;
  }
  q.request = request_message(scheduler_.oldest(q).wqe);
  q.number(q.request);
  scheduler_.resolve_oldest(q, turn.piece);
  return true;
}

void RdmapSegmenter::begin_stag_work(const TxQp& of) {
  const FetchedWqe& f = scheduler_.oldest(of.state);
  scheduler_.begin(of);
  if (!f.ok) return fail(of, abi::WcStatus::kGeneralErr);
  stag_request->push({of.qpn, of.state.epoch, f.wqe, of.ctx.pd});
  of.state.working = true;
}

void RdmapSegmenter::start_internal(const TxQp& of) {
  QpTx& q = of.state;
  q.request = scheduler_.next_internal(q);
  scheduler_.take_internal(q);
  q.number(q.request);
  if (q.request.opcode == Opcode::kTerminate) return mark(of.qpn, of.ctx.epoch, WqeIssued::Marker::kTerminate);
  if (q.request.opcode != Opcode::kReadRequest) return;
  WqeIssued read{of.qpn, 0, 0, abi::WrOpcode::kRdmaRead, abi::WcStatus::kSuccess, false, true};
  read.epoch = of.ctx.epoch;
  issued->push(read);
}

// The request is one segment, which is about to leave.
void RdmapSegmenter::expect_response(const TxQp& of, const abi::Wqe* w) {
  const OutboundMessage& request = of.state.request;
  if (request.opcode == Opcode::kAtomicRequest) {
    atomic_issued->push({of.qpn, request.msn, w->sge[0], of.ctx.epoch});
  } else if (request.opcode == Opcode::kReadRequest) {
    const wire::ReadRequest r = read_request_of(w, request.bytes);
    if (w != nullptr && w->opcode == abi::WrOpcode::kRdmaReadWithInv) ++of.state.sinks;
    const ReadIssued issued_read{of.qpn, r.sink_stag, r.sink_to, r.size, of.ctx.epoch};
    read_issued->push(issued_read);
    read_issued_early->push(issued_read);
  }
}

void RdmapSegmenter::send_segment(const TxQp& of, OutboundMessage& m, const FetchedWqe* f, BufferRef buffer) {
  UlpduJob job = cut_segment(m, f, of.qpn, of.ctx, of.state.source, std::move(buffer));
  job.epoch = of.ctx.epoch;
  job.ulpdu.llp = of.ctx.llp;
  job.ulpdu.markers = of.ctx.markers;
  job.ulpdu.crc = of.ctx.crc;
  job.ulpdu.position = static_cast<std::uint16_t>(of.state.position % wire::kMarkerInterval);
  const std::size_t octets = scheduler_.cost(of.ctx, of.state, job.ulpdu.bytes);
  of.state.spend(octets);
  scheduler_.take_room(of.ctx.llp, of.ctx.flow, octets);
  job.octets = static_cast<std::uint16_t>(octets);
  ++counters_.fpdus;
  counters_.payload_bytes += job.ulpdu.bytes - job.header_bytes;
  out->push(std::move(job));
}

BufferRef RdmapSegmenter::buffer_for_internal(const TxQp& of) {
  if (of.state.request.opcode == Opcode::kTerminate) return scheduler_.take_terminate(of.state);
  return buffers_.take(contexts_.internal_work(of.qpn));
}

void RdmapSegmenter::mark(Qpn qpn, std::uint32_t epoch, WqeIssued::Marker marker) {
  WqeIssued m;
  m.qpn = qpn;
  m.epoch = epoch;
  m.marker = marker;
  issued->push(m);
}

// The oldest work request is cut completely, or nothing of it is sent and it completes with an error.
void RdmapSegmenter::complete(const TxQp& of, std::uint32_t bytes, bool signaled, abi::WcStatus status) {
  const abi::Wqe& w = scheduler_.oldest(of.state).wqe;
  WqeIssued done{of.qpn, w.wr_id, bytes, w.opcode, status, signaled};
  done.epoch = of.ctx.epoch;
  if (w.opcode == abi::WrOpcode::kRdmaReadWithInv) done.ends = Stag{w.sge[0].lkey};
  issued->push(done);
  scheduler_.retire(of);
  taken->push({of.qpn, of.ctx.epoch});
}

void RdmapSegmenter::fail(const TxQp& of, abi::WcStatus status) {
  complete(of, 0, true, status);
  errors_.push({QpEvent::Kind::kLocalError, of.qpn, wire::rdma::kLocalCatastrophic});
  of.state.halted = true;
  ++counters_.failed;
}

void RdmapSegmenter::reset() {
  scheduler_.reset();
  scheduler_.account(now());
  events_.reset();
  errors_.clear();
  turn_of_inputs_ = 0;
  turns_.clear();
  source_.reset();
}

// What comes, a row or an event, calls the stage. It goes on where one step a cycle has left another one.
Wake RdmapSegmenter::tick() {
  scheduler_.call_waiting();
  const bool executed = execute();
  const bool opened_first = turns_.empty() && open_turn();
  const bool judged = judge();
  const bool ended = cut();
  const bool opened = !opened_first && open_turn();
  const bool asked = ask();
  const bool begun = begin_turn();
  const bool filed = take_event();
  const bool reported = report();
  scheduler_.account(now());
  const bool more = (executed && (events_.ready() || !turns_.empty())) || (judged && element_.can_use()) ||
                    (ended && !turns_.empty()) || opened || ((opened_first || asked) && turn_row_.can_use()) ||
                    (asked && turns_.back().to_ask != 0) || (begun && !scheduler_.nobody()) ||
                    (filed && offered() != 0) || scheduler_.has_to_call() ||
                    (reported && (!errors_.empty() || !turns_.empty()));
  return more ? Wake::next_cycle() : Wake::on_traffic();
}

std::string RdmapSegmenter::waiting_for() const {
  return turns_.empty() ? scheduler_.waiting_for()
                        : "the entry of an STag for QP " + std::to_string(turns_.front().qpn.v);
}

void RdmapSegmenter::describe(const Description& d) {
  d.counters(counters_);
  d.series("tx.fpdus", 20, counters_, &RdmapSegmenterCounters::fpdus);
  d.series("tx.payload", 30, counters_, &RdmapSegmenterCounters::payload_bytes);
  scheduler_.describe(d);
  d.queue_pairs(*this);
  for (std::uint32_t i = 0; i < contexts_.qps() && d.shows_probes(); ++i) {
    const ProbeGroup qp = d.probes().group("qp", i);
    const auto state = [this, qpn = Qpn{i}] { return scheduler_.state(qpn); };
    qp.number("wqes", 16, "WQEs", [state] { return state().wqes; });
    qp.number("ord_outstanding", 16, "requests", [state] { return state().reads; });
    qp.state("tx_waits_for", scheduler_.wait_words(), [state] { return state().waits; });
  }
}

}  // namespace rnic
