#include "model/rnic/tx/rdmap_segmenter.h"

#include "model/common/description.h"
#include "model/rnic/context/read_source.h"

namespace rnic {

using wire::Opcode;

RdmapSegmenter::RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts,
                               BufferPool& buffers, const PerLlp<LlpTraits>& llps)
    : Stage(nm, clk), contexts_(contexts), buffers_(buffers), scheduler_(contexts, llps) {
  contexts.stag_table.bind(element_);
  source_.bind_to(contexts.stag_table);
}

// Takes at most one item per cycle from each input.
bool RdmapSegmenter::accept() {
  bool busy = false;
  if (wqe->can_pop()) {
    scheduler_.post(wqe->pop());
    busy = true;
  }
  for (PopPort<TxCredit>& from : credit) {
    if (!from->can_pop()) continue;
    take(from->pop());
    busy = true;
  }
  for (PopPort<TxUnblock>* const from : {&unblock, &atomic_unblock, &sink_unblock}) {
    if (!(*from)->can_pop()) continue;
    take((*from)->pop());
    busy = true;
  }
  if (read_work->can_pop()) {
    const ReadWork r = read_work->pop();
    respond(r.qpn, response_message(r));
    scheduler_.answer(scheduler_.qp(r.qpn), r);
    busy = true;
  }
  if (atomic_work->can_pop()) {
    const AtomicWork a = atomic_work->pop();
    respond(a.qpn, response_message(a));
    busy = true;
  }
  if (terminate->can_pop()) {
    TerminateMessage t = terminate->pop();
    QpTx& q = scheduler_.qp(t.qpn);
    q.halted = true;  // it is sent when the firmware says so, and nothing of the host before it
    scheduler_.give_up(q);
    q.terminate = std::move(t.buf);
    q.terminate_bytes = t.bytes;
    busy = true;
  }
  return busy;
}

void RdmapSegmenter::take(const TxCredit& c) {
  const std::optional<Qpn> qpn = contexts_.qp_of(c.flow);
  if (!qpn) return;
  scheduler_.qp(*qpn).credit += c.bytes;
  scheduler_.list(*qpn);
}

void RdmapSegmenter::take(const TxUnblock& u) {
  QpTx& q = scheduler_.qp(u.qpn);
  switch (u.kind) {
    case TxUnblock::Kind::kFirstFpdu:
      q.unfenced = true;
      break;
    case TxUnblock::Kind::kReadDone:
      scheduler_.read_done(q);
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
  scheduler_.list(u.qpn);
}

void RdmapSegmenter::respond(Qpn qpn, const OutboundMessage& response) {
  QpTx& q = scheduler_.qp(qpn);
  RNIC_CHECK(!q.response.active);  // the IRRQ passes on one request of a QP at a time
  q.response = response;
  scheduler_.number(q, q.response);
  scheduler_.list(qpn);
}

bool RdmapSegmenter::accept_internal() {
  if (!internal_work->can_pop() || !flush_rq->can_push() || !issued->can_push()) return false;
  take(internal_work->pop());
  return true;
}

void RdmapSegmenter::take(const TxInternalWork& work) {
  QpTx& q = scheduler_.qp(work.qpn);
  switch (work.kind) {
    case TxInternalWork::Kind::kDrain:
      q.draining = true;
      break;
    case TxInternalWork::Kind::kFlush:
      q.flushing = true;
      q.request.active = q.response.active = q.working = false;
      scheduler_.drop_internal(q);
      mark(work.qpn, WqeIssued::Marker::kFlush);
      flush_rq->push({work.qpn});
      break;
    case TxInternalWork::Kind::kTerminate:
      return prepare_terminate(work);
    default:
      return scheduler_.post(work);
  }
  scheduler_.list(work.qpn);
}

// The firmware's own errors are the setup's, which return no headers (RFC 6581 section 8). One Terminate is the last of
// its stream (RFC 5040 section 4.8).
void RdmapSegmenter::prepare_terminate(const TxInternalWork& work) {
  QpTx& q = scheduler_.qp(work.qpn);
  // A responder that never saw a valid FPDU may send none (RFC 5044 section 7.1.2 rule 4): the stream just ends. An
  // error found after MPA belongs to a segment, whose headers are returned unless it is too short to have any.
  const bool saw_a_segment = wire::returns_ddp_header(work.cause);
  if (q.fenced(contexts_.qp(work.qpn)) && !saw_a_segment) return;
  if (std::exchange(q.terminated, true)) return;
  q.halted = true;
  if (!q.terminate) {
    q.terminate = buffers_.take(contexts_.internal_work(work.qpn));
    const wire::TerminateHeader header{work.cause, {}, {}, {}};
    std::uint8_t* const at = q.terminate->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
    q.terminate_bytes = static_cast<std::uint8_t>(header.emit({at, wire::TerminateHeader::kControlBytes}));
  }
  scheduler_.post(work);
}

// What of STags the QP's next FPDU needs to know.
TxTurn::Needs RdmapSegmenter::needs(const QpTx& q, Source next) const {
  if (next == Source::kResponse) {
    const bool reads = q.response.opcode == Opcode::kReadResponse && q.response.done != q.response.bytes;
    return reads ? TxTurn::Needs::kSource : TxTurn::Needs::kNothing;
  }
  const bool begins = next == Source::kRequest && !q.request.active && q.internal.empty();
  return begins ? TxTurn::Needs::kElements : TxTurn::Needs::kNothing;
}

// One a cycle, when the one before has asked for all that it needs.
bool RdmapSegmenter::begin_turn() {
  if (scheduler_.nobody() || turns_.size() == kTurns || (!turns_.empty() && turns_.back().to_ask != 0)) return false;
  const Qpn qpn = scheduler_.turn();
  const QpTx& q = scheduler_.qp(qpn);
  TxTurn& turn = turns_.add();
  turn.qpn = qpn;
  turn.epoch = q.epoch;
  turn.needs = needs(q, scheduler_.next(qpn, q));
  turn.to_ask = turn.to_judge = 0;
  if (turn.needs == TxTurn::Needs::kSource) {
    turn.stag[0] = Stag{scheduler_.read(q).request.src_stag};
    turn.to_ask = 1;
  } else if (turn.needs == TxTurn::Needs::kElements) {
    const FetchedWqe& f = scheduler_.oldest(q);
    turn.status = check_form(contexts_.qp(qpn), f);
    if (turn.status == abi::WcStatus::kSuccess) turn.to_ask = turn.to_judge = elements_of(f.wqe, turn.stag);
  }
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
  const QpTx& q = scheduler_.qp(turn.qpn);
  const StagRow* const row = element_.ok() ? &element_.row() : nullptr;
  if (q.epoch == turn.epoch) turn.judge(row, contexts_.qp(turn.qpn), scheduler_.oldest(q).wqe);
  else turn.skip();
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
  if (!out->can_push() || !issued->can_push() || !taken->can_push() || !event->can_push() || !read_sent->can_push() ||
      !answered->can_push() || !atomic_issued->can_push() || !read_issued->can_push() ||
      !read_issued_early->can_push() || !stag_request->can_push()) {
    return false;
  }
  QpTx& q = scheduler_.qp(turn.qpn);
  const Source next = scheduler_.next(turn.qpn, q);
  const TxTurn::Needs needed = needs(q, next);
  if (q.epoch == turn.epoch && (needed == TxTurn::Needs::kNothing || needed == turn.needs)) take_turn(turn, q, next);
  if (of_source) source_.drop();
  scheduler_.over(turn.qpn);
  turns_.drop();
  return true;
}

void RdmapSegmenter::take_turn(const TxTurn& turn, QpTx& q, Source next) {
  const Qpn qpn = turn.qpn;
  switch (next) {
    case Source::kNone:
      return;  // the QP went away meanwhile
    case Source::kFlush:
      return complete(qpn, q, 0, true, abi::WcStatus::kWrFlushErr);
    case Source::kDrain:
      q.draining = false;
      return mark(qpn, WqeIssued::Marker::kDrain);
    case Source::kLocalWork:
      return begin_stag_work(qpn, q);
    case Source::kResponse:
      send_response(qpn, q);
      q.response_turn = false;
      return;
    case Source::kRequest:
      send_request(turn, q);
      q.response_turn = true;
      return;
  }
}

void RdmapSegmenter::send_request(const TxTurn& turn, QpTx& q) {
  const Qpn qpn = turn.qpn;
  const bool between = !q.request.active || !q.open(contexts_.qp(qpn));  // a partly sent message is dropped
  if (between && !q.internal.empty()) {
    start_internal(qpn, q);
    expect_response(qpn, q.request, nullptr);
    return send_segment(qpn, q, q.request, nullptr);
  }
  if (!q.request.active && !start_request(turn, q)) return;
  const FetchedWqe& f = scheduler_.oldest(q);
  const abi::Wqe& w = f.wqe;
  expect_response(qpn, q.request, &w);
  send_segment(qpn, q, q.request, &f);
  if (q.request.active) return;
  complete(qpn, q, q.request.bytes, (w.flags & abi::kWqeSignaled) != 0, abi::WcStatus::kSuccess);
}

void RdmapSegmenter::send_response(Qpn qpn, QpTx& q) {
  if (q.response.opcode == Opcode::kReadResponse && !find_source(qpn, q)) return;
  send_segment(qpn, q, q.response, nullptr);
  if (q.response.active) return;
  scheduler_.answered(q);
  q.response_done();
  read_sent->push({qpn});
  answered->push({qpn});
}

// False if the source was revoked: the response ends there, and its IRRQ slot stays taken, for the stream is over.
bool RdmapSegmenter::find_source(Qpn qpn, QpTx& q) {
  const ReadWork& read = scheduler_.read(q);
  const wire::ReadRequest rest = rest_of(read.request, q.response.done);
  const StagContext* const named = rest.size != 0 ? source_.named() : nullptr;
  if (const auto cause = check_read_source(named, qpn, contexts_.qp(qpn), rest)) {
    event->push({QpEvent::Kind::kStreamError, qpn, *cause, read.segment.with(rest)});
    q.response.active = false;
    q.halted = true;
    ++counters_.revoked;
    return false;
  }
  if (named != nullptr) {
    const MemoryPiece m = named->piece(rest.src_stag, rest.src_to, rest.size);
    q.response.source = m.address;
    q.response.source_list = m.list;
    q.response.source_region = m.region;
  }
  return true;
}

// False if the request cannot be sent at all.
bool RdmapSegmenter::start_request(const TxTurn& turn, QpTx& q) {
  const Qpn qpn = turn.qpn;
  const FetchedWqe& f = scheduler_.oldest(q);
  if (turn.status != abi::WcStatus::kSuccess) {
    fail(qpn, q, turn.status);
    return false;
  }
  q.request = request_message(f.wqe);
  q.request.owner = contexts_.request(qpn, f.wqe.wr_id);
  scheduler_.number(q, q.request);
  scheduler_.resolve_oldest(q, turn.piece);
  return true;
}

void RdmapSegmenter::begin_stag_work(Qpn qpn, QpTx& q) {
  const FetchedWqe& f = scheduler_.oldest(q);
  if (!f.ok) return fail(qpn, q, abi::WcStatus::kGeneralErr);
  stag_request->push({qpn, q.epoch, f.wqe});
  q.working = true;
}

// Later requests of the QP have waited for it. The end of its stream may have completed it meanwhile.
bool RdmapSegmenter::take_stag_work() {
  if (!stag_request_done->can_pop() || !issued->can_push() || !taken->can_push() || !event->can_push()) return false;
  const StagRequestDone done = stag_request_done->pop();
  QpTx& q = scheduler_.qp(done.qpn);
  if (q.epoch != done.epoch || !std::exchange(q.working, false)) return true;
  if (done.status != abi::WcStatus::kSuccess) fail(done.qpn, q, done.status);
  else complete(done.qpn, q, 0, (scheduler_.oldest(q).wqe.flags & abi::kWqeSignaled) != 0, done.status);
  scheduler_.list(done.qpn);
  return true;
}

void RdmapSegmenter::start_internal(Qpn qpn, QpTx& q) {
  q.request = scheduler_.next_internal(q);
  q.request.owner = contexts_.internal_work(qpn);
  scheduler_.take_internal(q);
  scheduler_.number(q, q.request);
  if (q.request.opcode == Opcode::kTerminate) return mark(qpn, WqeIssued::Marker::kTerminate);
  if (q.request.opcode != Opcode::kReadRequest) return;
  issued->push({qpn, 0, 0, abi::WrOpcode::kRdmaRead, abi::WcStatus::kSuccess, false, true});
}

// The request is one segment, which is about to leave.
void RdmapSegmenter::expect_response(Qpn qpn, const OutboundMessage& request, const abi::Wqe* w) {
  if (request.opcode == Opcode::kAtomicRequest) {
    atomic_issued->push({qpn, request.msn, w->sge[0]});
  } else if (request.opcode == Opcode::kReadRequest) {
    const wire::ReadRequest r = read_request_of(w, request.bytes);
    if (w != nullptr && w->opcode == abi::WrOpcode::kRdmaReadWithInv) ++scheduler_.qp(qpn).sinks;
    read_issued->push({qpn, r.sink_stag, r.sink_to, r.size});
    read_issued_early->push({qpn, r.sink_stag, r.sink_to, r.size});
  }
}

void RdmapSegmenter::send_segment(Qpn qpn, QpTx& q, OutboundMessage& m, const FetchedWqe* f) {
  const QpContext& ctx = contexts_.qp(qpn);
  UlpduJob job = cut_segment(m, f, qpn, ctx, buffer_for(q, m));
  const FlowContext& flow = contexts_.flow(ctx.flow);
  job.epoch = ctx.epoch;
  job.ulpdu.llp = flow.llp;
  job.ulpdu.markers = flow.tx_markers;
  job.ulpdu.crc = flow.crc;
  job.ulpdu.position = static_cast<std::uint16_t>(q.position % wire::kMarkerInterval);
  q.spend(scheduler_.cost(ctx, q, job.ulpdu.bytes));
  ++counters_.fpdus;
  counters_.payload_bytes += job.ulpdu.bytes - job.header_bytes;
  out->push(std::move(job));
}

BufferRef RdmapSegmenter::buffer_for(QpTx& q, const OutboundMessage& m) {
  return m.opcode == Opcode::kTerminate ? std::move(q.terminate) : buffers_.take(m.owner);
}

void RdmapSegmenter::mark(Qpn qpn, WqeIssued::Marker marker) {
  WqeIssued m;
  m.qpn = qpn;
  m.marker = marker;
  issued->push(m);
}

// The oldest work request is cut completely, or nothing of it is sent and it completes with an error.
void RdmapSegmenter::complete(Qpn qpn, QpTx& q, std::uint32_t bytes, bool signaled, abi::WcStatus status) {
  const abi::Wqe& w = scheduler_.oldest(q).wqe;
  WqeIssued done{qpn, w.wr_id, bytes, w.opcode, status, signaled};
  if (w.opcode == abi::WrOpcode::kRdmaReadWithInv) done.ends = Stag{w.sge[0].lkey};
  issued->push(done);
  scheduler_.retire(q);
  taken->push({qpn});
}

void RdmapSegmenter::fail(Qpn qpn, QpTx& q, abi::WcStatus status) {
  complete(qpn, q, 0, true, status);
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
  q.halted = true;
  ++counters_.failed;
}

void RdmapSegmenter::reset() {
  scheduler_.reset();
  scheduler_.account(now());
  turns_.clear();
  source_.reset();
}

Wake RdmapSegmenter::tick() {
  bool busy = accept();
  const bool flushes = internal_work->can_pop() && internal_work->front().kind == TxInternalWork::Kind::kFlush;
  busy |= accept_internal();
  busy |= !flushes && take_stag_work();
  const bool begun = turns_.empty() && begin_turn();
  busy |= judge();
  busy |= !flushes && cut();  // a flush uses the cycle's place on `issued`
  busy |= begun || begin_turn();
  busy |= ask();
  scheduler_.account(now());
  return busy ? Wake::next_cycle() : Wake::on_traffic();
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
