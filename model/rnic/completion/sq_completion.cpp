#include "model/rnic/completion/sq_completion.h"

#include "model/common/description.h"

namespace rnic {

namespace {

using Awaited = SqCompletion::Awaited;

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

// A Send or a Write, which the peer's lower layer acknowledges, and not a Terminate of ours.
bool is_send(const WqeIssued& w) { return w.marker == WqeIssued::Marker::kNone && awaited(w) == Awaited::kAck; }

}  // namespace

// The QP's state, reset if the QP number was reused.
SqCompletion::QpSq& SqCompletion::qp(Qpn qpn) {
  QpSq& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    const bool listed = q.listed;
    pool_.clear(q.outstanding);
    sink_pool_.clear(q.sinks);
    outcome_pool_.clear(q.outcomes);
    q = QpSq{};
    q.epoch = epoch;
    q.listed = listed;
  }
  return q;
}

bool SqCompletion::never_left(const QpSq& q, const WqeIssued& w) {
  return is_send(w) && q.lost != 0 && q.lost == q.sends;
}

// The condition for its completion is met.
bool SqCompletion::satisfied(const QpSq& q, const WqeIssued& w) {
  return !never_left(q, w) && (awaited(w) == Awaited::kNothing || q.arrived(awaited(w)) != 0);
}

// If no more responses come, a Read or an atomic ends as it is; the rest is still acknowledged.
bool SqCompletion::retirable(const QpSq& q) const {
  if (q.outstanding.empty()) return false;
  const WqeIssued& w = pool_.front(q.outstanding);
  return q.flushing || satisfied(q, w) || never_left(q, w) || (q.responses_over && is_response(awaited(w)));
}

void SqCompletion::list(Qpn qpn) {
  QpSq& q = qp(qpn);
  if (q.listed || !retirable(q)) return;
  q.listed = true;
  list_pool_.push(listed_, qpn);
}

// Consumes what it waited for. A Read whose sink could not be invalidated has failed, whatever was placed, and so has
// an atomic whose original value has no page.
void SqCompletion::finish(QpSq& q, WqeIssued& w) {
  if (awaited(w) == Awaited::kNothing) return;
  --q.arrived(awaited(w));
  if (awaited(w) == Awaited::kRead) w.status = outcome_pool_.pop(q.outcomes);
  if (awaited(w) == Awaited::kAtomic && q.before_lost_value != kNone && q.before_lost_value-- == 0) {
    w.status = abi::WcStatus::kLocQpOpErr;
  }
  if (w.status != abi::WcStatus::kSuccess) {
    event->push({QpEvent::Kind::kLocalError, w.qpn, wire::rdma::kLocalCatastrophic});
  }
}

void SqCompletion::retire(Qpn qpn) {
  QpSq& q = qp(qpn);
  q.listed = false;
  if (!retirable(q)) return;  // the QP went away meanwhile
  const bool done = satisfied(q, pool_.front(q.outstanding));
  WqeIssued w = pool_.pop(q.outstanding);
  if (never_left(q, w)) --q.lost;
  q.sends -= is_send(w);
  if (w.marker == WqeIssued::Marker::kDrain) {
    event->push({QpEvent::Kind::kSendDrained, qpn, {}});
    return list(qpn);
  }
  if (done) finish(q, w);
  if (w.marker == WqeIssued::Marker::kTerminate) return list(qpn);
  if (!done) w.status = abi::WcStatus::kWrFlushErr;
  if (!w.internal && (w.signaled || w.status != abi::WcStatus::kSuccess)) {
    CqeRequest c;
    c.cqn = contexts_.qp(qpn).send_cq;
    c.cqe.wr_id = w.wr_id;
    c.owner = contexts_.request(qpn, w.wr_id);
    c.cqe.byte_len = w.bytes;
    c.cqe.qpn = qpn.v;
    c.cqe.opcode = completion_opcode(w.opcode);
    c.cqe.status = w.status;
    cqe->push(c);
  }
  list(qpn);
}

void SqCompletion::take(const WqesAcked& a) {
  const std::optional<Qpn> qpn = contexts_.qp_of(a.flow);
  if (!qpn) return;
  qp(*qpn).arrived(Awaited::kAck) += a.wqes;
  list(*qpn);
}

// A Read that ends its sink returns its memory to its owner: it is complete when all writes that the STag allowed are
// out (RFC 5040 section 8.1.1). Later Reads of its queue pair stay behind it.
bool SqCompletion::take_read() {
  if (!read_done->can_pop() || !sink->can_push()) return false;
  const ReadDone r = read_done->pop();
  QpSq& q = qp(r.qpn);
  if (r.closed) {
    q.responses_over = true;
    list(r.qpn);
  } else if (q.sinks.empty()) {
    ++counters_.unsolicited;
  } else if (const std::optional<Stag> ends = sink_pool_.pop(q.sinks)) {
    sink->push({*ends});
    endings_.push({r.qpn, q.epoch, true});
  } else if (waits_behind(r.qpn, q)) {
    endings_.push({r.qpn, q.epoch, false});
  } else {
    end_read(r.qpn, abi::WcStatus::kSuccess);
  }
  return true;
}

bool SqCompletion::waits_behind(Qpn qpn, const QpSq& q) const {
  return endings_.any([&](const Ending& e) { return e.qpn == qpn && e.epoch == q.epoch; });
}

// The first one that has failed ends the queue pair.
void SqCompletion::take(const AtomicDone& a) {
  QpSq& q = qp(a.qpn);
  if (!a.ok && q.before_lost_value == kNone) q.before_lost_value = q.arrived(Awaited::kAtomic);
  ++q.arrived(Awaited::kAtomic);
  list(a.qpn);
}

// A fenced request of the queue pair may start when the sink has ended.
bool SqCompletion::finish_ending() {
  if (endings_.empty()) return false;
  const Ending& e = endings_.front();
  if (e.sink && (!sink_ended->can_pop() || !unblock->can_push())) return false;
  const abi::WcStatus status = e.sink ? sink_ended->pop().status : abi::WcStatus::kSuccess;
  if (qp(e.qpn).epoch == e.epoch) {
    end_read(e.qpn, status);
    if (e.sink) unblock->push({TxUnblock::Kind::kSinkEnded, e.qpn});
  }
  endings_.drop();
  return true;
}

void SqCompletion::end_read(Qpn qpn, abi::WcStatus status) {
  QpSq& q = qp(qpn);
  outcome_pool_.push(q.outcomes, status);
  ++q.arrived(Awaited::kRead);
  list(qpn);
}

void SqCompletion::reset() {
  endings_ = {};
  qps_.assign(qps_.size(), {});
  pool_ = {};
  sink_pool_ = {};
  outcome_pool_ = {};
  list_pool_ = {};
  listed_ = {};
}

Wake SqCompletion::tick() {
  bool busy = false;
  if (issued->can_pop()) {
    const WqeIssued w = issued->pop();
    QpSq& q = qp(w.qpn);
    if (w.marker == WqeIssued::Marker::kFlush) q.flushing = true;
    else pool_.push(q.outstanding, w);
    q.sends += is_send(w);
    q.responses_over |= w.marker == WqeIssued::Marker::kTerminate;
    if (awaited(w) == Awaited::kRead) sink_pool_.push(q.sinks, w.ends);
    list(w.qpn);
    busy = true;
  }
  for (PopPort<WqesAcked>& from : acked) {
    if (!from->can_pop()) continue;
    take(from->pop());
    busy = true;
  }
  if (lost->can_pop()) {
    const Qpn qpn = lost->pop().qpn;
    ++qp(qpn).lost;
    list(qpn);
    busy = true;
  }
  busy |= finish_ending();
  busy |= take_read();
  if (atomic_done->can_pop()) {
    take(atomic_done->pop());
    busy = true;
  }
  if (!listed_.empty() && cqe->can_push() && event->can_push()) {
    retire(list_pool_.pop(listed_));
    busy = true;
  }
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

void SqCompletion::describe(const Description& d) { d.counters(counters_); }

std::string SqCompletion::waiting_for() const {
  for (std::size_t n = 0; n < qps_.size(); ++n) {
    if (qps_[n].outstanding.empty()) continue;
    const Awaited what = awaited(pool_.front(qps_[n].outstanding));
    return "QP " + std::to_string(n) +
           (what == Awaited::kRead     ? " read response"
            : what == Awaited::kAtomic ? " atomic response"
                                       : " acknowledgement");
  }
  return {};
}

}  // namespace rnic
