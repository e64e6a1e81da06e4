#include "model/rnic/completion/sq_completion.h"

#include <algorithm>

#include "model/common/description.h"

namespace rnic {

namespace {

using Awaited = SqCompletion::Awaited;

// What the firmware has outstanding on a queue pair, beside the host's requests: a ready-to-receive Read, a drain and a
// Terminate.
constexpr std::size_t kOfFirmware = 3;
// With a row that is lost its lists are, whose elements then are nobody's.
PoolLimit lost_with(const ContextTables& contexts) {
  return contexts.sqc_table.cached() ? PoolLimit::kHome : PoolLimit::kChip;
}

// Events that wait, of a Read that is over while the next one is issued.
constexpr std::size_t kOnTheirWay = 32;
constexpr unsigned kStagBits = 32, kStatusBits = 8;

constexpr abi::WcOpcode completion_opcode(abi::WrOpcode op) {
  switch (op) {
    case abi::WrOpcode::kRdmaWrite:
    case abi::WrOpcode::kImmediate:  // a Write with immediate data ends with it
      return abi::WcOpcode::kRdmaWrite;
    case abi::WrOpcode::kRdmaRead:
    case abi::WrOpcode::kRdmaReadWithInv:
      return abi::WcOpcode::kRdmaRead;
    case abi::WrOpcode::kFetchAdd:
      return abi::WcOpcode::kFetchAdd;
    case abi::WrOpcode::kCmpSwap:
      return abi::WcOpcode::kCompSwap;
    case abi::WrOpcode::kLocalInv:
      return abi::WcOpcode::kLocalInv;
    case abi::WrOpcode::kRegMr:
      return abi::WcOpcode::kRegMr;
    case abi::WrOpcode::kBindMw:
      return abi::WcOpcode::kBindMw;
    case abi::WrOpcode::kSend:
    case abi::WrOpcode::kSendWithInv:
      break;
  }
  return abi::WcOpcode::kSend;
}

Awaited awaited(const WqeIssued& w) {
  if (w.marker == WqeIssued::Marker::kTerminate) return Awaited::kAck;
  if (w.marker != WqeIssued::Marker::kNone || w.status != abi::WcStatus::kSuccess) return Awaited::kNothing;
  if (is_stag_work(w.opcode)) return Awaited::kNothing;  // done when it was issued
  if (abi::is_read(w.opcode)) return Awaited::kRead;
  return abi::is_atomic(w.opcode) ? Awaited::kAtomic : Awaited::kAck;
}

bool is_response(Awaited a) { return a == Awaited::kRead || a == Awaited::kAtomic; }

// How much of it came and has not retired a request yet.
std::uint16_t& arrived(QpSq& q, Awaited what) { return q.arrived[static_cast<unsigned>(what) - 1]; }
std::uint16_t arrived(const QpSq& q, Awaited what) { return q.arrived[static_cast<unsigned>(what) - 1]; }

// What a request was still to get when it retired may come all the same, and counts for no other one: below 0.
bool has_arrived(const QpSq& q, Awaited what) { return static_cast<std::int16_t>(arrived(q, what)) > 0; }
bool is_owed(const QpSq& q, Awaited what) { return static_cast<std::int16_t>(arrived(q, what)) < 0; }

// A work request of the host.
bool is_counted(const WqeIssued& w) { return w.marker == WqeIssued::Marker::kNone && !w.internal; }

// A Send or a Write, which the peer's lower layer acknowledges, and not a Terminate of ours.
bool is_send(const WqeIssued& w) { return w.marker == WqeIssued::Marker::kNone && awaited(w) == Awaited::kAck; }

}  // namespace

SqCompletion::SqCompletion(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
    : Stage(nm, clk),
      contexts_(contexts),
      pool_({"outstanding", contexts.elements().outstanding + contexts.qps() * kOfFirmware,
             "tx.rdmap_segmenter.outstanding + queue pairs x 3", lost_with(contexts)}),
      sink_pool_({"sinks", contexts.qps() * contexts.elements().ord + kOnTheirWay,
                  "queue pairs x fwcpu.max_ord, and what waits for its row", lost_with(contexts)},
                 1 + kStagBits),
      outcome_pool_({"outcomes", pool_.entries(), "as outstanding", lost_with(contexts)}, kStatusBits),
      endings_({"endings", contexts.elements().outstanding + kOnTheirWay,
                "tx.rdmap_segmenter.outstanding, and what waits for its row"}),
      sinks_({"ending_sinks", endings_.entries(), "as endings"}),
      list_pool_({"listed", contexts.qps(), "queue pairs"}, 0),
      one_turn_(contexts.sqc_table.cached()),
      qps_(contexts.qps()) {
  contexts.sqc_table.owned_by(*this);
  events_.bind_to(contexts.sqc_table);
  contexts.sqc_table.bind(turn_);
}

// ---- Events

// f(input number n).
template <class F>
auto SqCompletion::input(unsigned n, F&& f) {
  switch (n) {
    case 0:
      return f(acked[LlpId::kMpaTcp]);
    case 1:
      return f(acked[LlpId::kSctp]);
    case 2:
      return f(lost);
    case 3:
      return f(read_done);
    default:
      return f(atomic_done);
  }
}

bool SqCompletion::is_offered(unsigned n) {
  if (n == kEnding) return ending_is_over();
  if (n == kReadDone && endings_.size() + kOnTheirWay > endings_.entries()) return false;  // stag_work goes on
  return input(n, [](auto& port) { return port->can_pop(); });
}

bool SqCompletion::offered() {
  bool any = issued->can_pop();
  for (unsigned n = 0; n < kInputs && !any; ++n) any = is_offered(n);
  return any;
}

// One a cycle. A request comes before what answers it, and the other inputs are served in turn.
bool SqCompletion::take_event() {
  if (!events_.can_take()) return false;
  if (issued->can_pop()) return take(issued->pop()), true;
  for (unsigned i = 0; i < kInputs; ++i) {
    const unsigned n = (turn_of_inputs_ + i) % kInputs;
    if (!is_offered(n)) continue;
    if (n == kEnding) take_ending();
    else input(n, [this](auto& port) { take(port->pop()); });
    turn_of_inputs_ = (n + 1) % kInputs;
    return true;
  }
  return false;
}

template <class T>
void SqCompletion::take(const T& of_qp) {
  events_.take(of_qp.qpn, of_qp.epoch, of_qp);
}

// The oldest one stays until its event is executed, as later Reads of its queue pair are behind it.
bool SqCompletion::ending_is_over() {
  if (endings_.empty() || ending_executes_) return false;
  return !endings_.front().sink || (sink_ended->can_pop() && unblock->can_push());
}

// A fenced request of the queue pair may start when the sink has ended.
void SqCompletion::take_ending() {
  const Ending& e = endings_.front();
  const abi::WcStatus status = e.sink ? sink_ended->pop().status : abi::WcStatus::kSuccess;
  if (e.sink && contexts_.epoch(e.qpn) == e.epoch) unblock->push({TxUnblock::Kind::kSinkEnded, e.qpn, e.epoch});
  events_.take(e.qpn, e.epoch, EndOfRead{status});
  ending_executes_ = true;
}

// One a cycle, with its row. None waits for anything else. That of an earlier use of the QP's number is over.
bool SqCompletion::execute() {
  if (!events_.ready()) return false;
  if (!events_.ok()) execute_lost();
  else if (events_.row().qp.epoch == events_.epoch()) execute(events_.row());
  else if (const auto* const w = std::get_if<WqeIssued>(&events_.front())) drop(events_.id(), *w);
  if (std::holds_alternative<EndOfRead>(events_.front())) {
    endings_.pop();
    ending_executes_ = false;
  }
  events_.drop();
  return true;
}

void SqCompletion::execute(const SqcRow& row) {
  const Qpn qpn = events_.id();
  QpSq& q = use(qpn, row);
  std::visit([&](const auto& of_qp) { execute(qpn, row.qp, q, of_qp); }, events_.front());
  show(qpn, q);
  list(qpn, q);
}

// What was outstanding is lost with the row, and completes no more. Only the firmware is still answered.
void SqCompletion::execute_lost() {
  const Qpn qpn = events_.id();
  const std::uint32_t epoch = events_.epoch();
  lose(qpn, epoch);
  const auto* const w = std::get_if<WqeIssued>(&events_.front());
  if (w == nullptr) return;
  if (w->marker == WqeIssued::Marker::kDrain) answer_drain(qpn, epoch);
  drop(qpn, *w);
}

// A request that nobody completes: its queue pair's row is lost, or its number was used again.
void SqCompletion::drop(Qpn qpn, const WqeIssued& w) {
  if (outstanding_ != nullptr && is_counted(w)) outstanding_->give_back(qpn);
}

void SqCompletion::give_back(Qpn qpn, unsigned requests) {
  qps_[qpn.v].requests = static_cast<std::uint16_t>(qps_[qpn.v].requests - requests);
  if (outstanding_ != nullptr && requests != 0) outstanding_->give_back(qpn, requests);
}

// The firmware hears once that the QP's row is lost, and then of the drains that were in it.
void SqCompletion::lose(Qpn qpn, std::uint32_t epoch) {
  if (!lost_qps_.lose(qpn, epoch)) return;
  Here& here = qps_[qpn.v];
  here.waits = false;
  give_back(qpn, here.requests);
  for (; here.drains != 0; --here.drains) answer_drain(qpn, epoch);
}

void SqCompletion::answer_drain(Qpn qpn, std::uint32_t epoch) {
  lost_qps_.report({QpEvent::Kind::kSendDrained, qpn, {}}, epoch);
}

// The QP's state, reset if the QP number was reused.
QpSq& SqCompletion::use(Qpn qpn, const SqcRow& row) {
  QpSq& q = contexts_.sqc_table.own(qpn.v, &SqcRow::state);
  if (q.epoch != row.qp.epoch) {
    pool_.clear(q.outstanding);
    sink_pool_.clear(q.sinks);
    outcome_pool_.clear(q.outcomes);
    q = QpSq{};
    q.epoch = row.qp.epoch;
    qps_[qpn.v].drains = 0;
    give_back(qpn, qps_[qpn.v].requests);
  }
  return q;
}

void SqCompletion::show(Qpn qpn, const QpSq& q) {
  Here& here = qps_[qpn.v];
  here.waits = !q.outstanding.empty();
  if (here.waits) here.oldest = awaited(pool_.front(q.outstanding));
}

void SqCompletion::execute(Qpn qpn, const SqcContext&, QpSq& q, const WqeIssued& w) {
  if (w.marker == WqeIssued::Marker::kFlush) q.flushing = true;
  else pool_.push(q.outstanding, w);
  qps_[qpn.v].drains += w.marker == WqeIssued::Marker::kDrain;
  qps_[qpn.v].requests += is_counted(w);
  q.sends += is_send(w);
  q.responses_over |= w.marker == WqeIssued::Marker::kTerminate;
  if (awaited(w) == Awaited::kRead) sink_pool_.push(q.sinks, w.ends);
}

void SqCompletion::execute(Qpn, const SqcContext& ctx, QpSq& q, const WqesAcked& a) {
  if (ctx.flow == a.flow) arrived(q, Awaited::kAck) += static_cast<std::uint16_t>(a.wqes);
}

void SqCompletion::execute(Qpn, const SqcContext&, QpSq& q, const WqeLost&) { ++q.lost; }

// A Read that ends its sink returns its memory to its owner: it is complete when all writes that the STag allowed are
// out (RFC 5040 section 8.1.1). Later Reads of its queue pair stay behind it.
void SqCompletion::execute(Qpn qpn, const SqcContext&, QpSq& q, const ReadDone& r) {
  if (r.closed) {
    q.responses_over = true;
  } else if (q.sinks.empty()) {
    ++counters_.unsolicited;
  } else if (const std::optional<Stag> ends = sink_pool_.pop(q.sinks)) {
    sinks_.push({*ends});
    endings_.push({qpn, q.epoch, true});
  } else if (waits_behind(qpn, q)) {
    endings_.push({qpn, q.epoch, false});
  } else {
    end_read(q, abi::WcStatus::kSuccess);
  }
}

// The first one that has failed ends the queue pair.
void SqCompletion::execute(Qpn, const SqcContext&, QpSq& q, const AtomicDone& a) {
  const bool counts = !is_owed(q, Awaited::kAtomic);
  if (counts && !a.ok && q.before_lost_value == QpSq::kNone) q.before_lost_value = arrived(q, Awaited::kAtomic);
  ++arrived(q, Awaited::kAtomic);
}

void SqCompletion::execute(Qpn, const SqcContext&, QpSq& q, const EndOfRead& e) { end_read(q, e.status); }

bool SqCompletion::waits_behind(Qpn qpn, const QpSq& q) const {
  return endings_.any([&](const Ending& e) { return e.qpn == qpn && e.epoch == q.epoch; });
}

void SqCompletion::end_read(QpSq& q, abi::WcStatus status) {
  if (!is_owed(q, Awaited::kRead)) outcome_pool_.push(q.outcomes, status);
  ++arrived(q, Awaited::kRead);
}

bool SqCompletion::end_sink() {
  if (sinks_.empty() || !sink->can_push()) return false;
  sink->push(sinks_.pop());
  return true;
}

// ---- Requests that retire

bool SqCompletion::never_left(const QpSq& q, const WqeIssued& w) {
  return is_send(w) && q.lost != 0 && q.lost == q.sends;
}

// The condition for its completion is met.
bool SqCompletion::satisfied(const QpSq& q, const WqeIssued& w) {
  return !never_left(q, w) && (awaited(w) == Awaited::kNothing || has_arrived(q, awaited(w)));
}

// If no more responses come, a Read or an atomic ends as it is; the rest is still acknowledged.
bool SqCompletion::retirable(const QpSq& q) const {
  if (q.outstanding.empty()) return false;
  const WqeIssued& w = pool_.front(q.outstanding);
  return q.flushing || satisfied(q, w) || never_left(q, w) || (q.responses_over && is_response(awaited(w)));
}

void SqCompletion::list(Qpn qpn, const QpSq& q) {
  if (qps_[qpn.v].listed || !retirable(q)) return;
  qps_[qpn.v].listed = true;
  list_pool_.push(listed_, qpn);
}

bool SqCompletion::begin_turn() {
  if (listed_.empty() || !turn_.can_ask()) return false;
  const Qpn qpn = list_pool_.pop(listed_);
  turn_.ask(qpn.v, contexts_.epoch(qpn));
  ++turns_;
  return true;
}

// One request a cycle. The turn goes on while nobody else has one, or, with a cache, for all that can retire.
bool SqCompletion::turn() {
  if (!turn_.can_use() || !cqe->can_push() || !event->can_push()) return false;
  const Qpn qpn{turn_.front().index};
  if (!turn_.ok()) return end_lost_turn(qpn, turn_.front().tag), true;
  if (!contexts_.sqc_table.can_own(qpn.v)) return true;
  const SqcRow& row = turn_.row();
  QpSq& q = use(qpn, row);
  if (retirable(q)) retire(qpn, row.qp, q);  // otherwise the QP went away meanwhile
  show(qpn, q);
  const bool more = retirable(q);
  if (more && (one_turn_ || (turns_ == 1 && listed_.empty()))) return true;
  end_turn(qpn);
  list(qpn, q);
  return true;
}

void SqCompletion::end_turn(Qpn qpn) {
  turn_.drop();
  --turns_;
  qps_[qpn.v].listed = false;
}

// The number may be used again: then there may be a request of its next use, which was not listed.
void SqCompletion::end_lost_turn(Qpn qpn, std::uint32_t epoch) {
  end_turn(qpn);
  if (contexts_.epoch(qpn) == epoch) return lose(qpn, epoch);
  qps_[qpn.v].listed = true;
  list_pool_.push(listed_, qpn);
}

void SqCompletion::retire(Qpn qpn, const SqcContext& ctx, QpSq& q) {
  const bool done = satisfied(q, pool_.front(q.outstanding));
  WqeIssued w = pool_.pop(q.outstanding);
  const bool comes_later = !done && !never_left(q, w) && awaited(w) != Awaited::kNothing;
  if (is_counted(w)) give_back(qpn, 1);
  if (comes_later) --arrived(q, awaited(w));
  if (never_left(q, w)) --q.lost;
  q.sends -= is_send(w);
  if (w.marker == WqeIssued::Marker::kDrain) {
    --qps_[qpn.v].drains;
    return event->push({QpEvent::Kind::kSendDrained, qpn, {}});
  }
  if (done) finish(q, w);
  if (w.marker == WqeIssued::Marker::kTerminate) return;
  if (!done) w.status = abi::WcStatus::kWrFlushErr;
  if (w.internal || (!w.signaled && w.status == abi::WcStatus::kSuccess)) return;
  CqeRequest c;
  c.cqn = ctx.send_cq;
  c.cqe.wr_id = w.wr_id;
  c.owner = contexts_.request(qpn, w.wr_id);
  c.cqe.byte_len = w.bytes;
  c.cqe.qpn = qpn.v;
  c.cqe.opcode = completion_opcode(w.opcode);
  c.cqe.status = w.status;
  cqe->push(c);
}

// Consumes what it waited for. A Read whose sink could not be invalidated has failed, whatever was placed, and so has
// an atomic whose original value has no page.
void SqCompletion::finish(QpSq& q, WqeIssued& w) {
  if (awaited(w) == Awaited::kNothing) return;
  --arrived(q, awaited(w));
  if (awaited(w) == Awaited::kRead) w.status = outcome_pool_.pop(q.outcomes);
  if (awaited(w) == Awaited::kAtomic && q.before_lost_value != QpSq::kNone && q.before_lost_value-- == 0) {
    w.status = abi::WcStatus::kLocQpOpErr;
  }
  if (w.status != abi::WcStatus::kSuccess) {
    event->push({QpEvent::Kind::kLocalError, w.qpn, wire::rdma::kLocalCatastrophic});
  }
}

void SqCompletion::reset() {
  events_.reset();
  turn_of_inputs_ = turns_ = 0;
  pool_.reset();
  sink_pool_.reset();
  outcome_pool_.reset();
  endings_.reset();
  ending_executes_ = false;
  sinks_.reset();
  list_pool_.reset();
  listed_ = {};
  qps_.assign(qps_.size(), {});
  lost_qps_.reset();
}

// What comes, a row or an event, calls the stage. It goes on where one step a cycle has left another one.
Wake SqCompletion::tick() {
  const bool taken = take_event();
  const bool executed = execute();
  const bool told = end_sink();
  const bool turned = turn();
  const bool reported = lost_qps_.tell(event);
  const bool begun = begin_turn();
  const bool more = ((taken || executed) && offered()) || (executed && events_.ready()) || (told && !sinks_.empty()) ||
                    reported || (turned && turn_.can_use()) || (begun && !listed_.empty());
  return more ? Wake::next_cycle() : Wake::on_traffic();
}

void SqCompletion::describe(const Description& d) {
  d.counters(counters_);
  pool_.describe(d);
  sink_pool_.describe(d);
  outcome_pool_.describe(d);
  endings_.describe(d);
  sinks_.describe(d);
  list_pool_.describe(d);
}

std::string SqCompletion::waiting_for() const {
  if (!endings_.empty()) return "the end of an STag for QP " + std::to_string(endings_.front().qpn.v);
  for (std::uint32_t n = 0; n < contexts_.qps(); ++n) {
    const Here& here = qps_[n];
    if (!here.waits) continue;
    const Awaited what = here.oldest;
    return "QP " + std::to_string(n) +
           (what == Awaited::kRead     ? " read response"
            : what == Awaited::kAtomic ? " atomic response"
                                       : " acknowledgement");
  }
  return {};
}

}  // namespace rnic
