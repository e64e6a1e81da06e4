#include "model/rnic/completion/response_queue.h"

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic {

// The QP's state, reset if the QP number was reused.
ResponseQueue::QpAtomics& ResponseQueue::qp(Qpn qpn) {
  QpAtomics& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    pool_.clear(q.outstanding);
    q = QpAtomics{};
    q.epoch = epoch;
  }
  return q;
}

// The request that the response answers, if it answers one: only then its sink's entry is needed.
const AtomicIssued* ResponseQueue::request_of(const DeliveredAtomic& r) {
  const QpAtomics& q = qp(r.qpn);
  if (q.stopped || !contexts_.qp(r.qpn).valid || q.outstanding.empty()) return nullptr;
  const AtomicIssued& request = pool_.front(q.outstanding);
  return request.request_id == r.response.request_id ? &request : nullptr;
}

// Whether all that is needed for the response in front is there. If its queue pair is another one meanwhile, the entry
// that was asked for is dropped when it comes.
bool ResponseQueue::look_up(const DeliveredAtomic& r) {
  const AtomicIssued* request = request_of(r);
  const bool other =
      request == nullptr || (asked_ && sinks.can_use() && sinks.front().index != index_of(Stag{request->sink.lkey}));
  if (asked_ && other && sinks.can_use()) {
    sinks.drop();
    asked_ = false;
  }
  if (request != nullptr && !asked_ && sinks.can_ask()) {
    sinks.ask(index_of(Stag{request->sink.lkey}));
    asked_ = true;
  }
  return asked_ ? request != nullptr && sinks.can_use() : request == nullptr;
}

// The n-th response answers the n-th request, which its identifier must confirm (choices.md 7). A response that nothing
// waits for has no buffer of QN 3.
void ResponseQueue::match(const DeliveredAtomic& r) {
  QpAtomics& q = qp(r.qpn);
  const QpContext& ctx = contexts_.qp(r.qpn);
  if (q.stopped || !ctx.valid) return;
  if (q.outstanding.empty()) return refuse(r, q, QpEvent::Kind::kStreamError, wire::ddp::kInvalidMsnNoBuffer);
  const AtomicIssued request = pool_.pop(q.outstanding);
  if (request.request_id != r.response.request_id) {
    return refuse(r, q, QpEvent::Kind::kStreamError, wire::rdma::kOperationUnspecified);
  }
  const abi::Sge& sink = request.sink;
  const StagContext* stag = sinks.ok() ? &sinks.row().stag : nullptr;
  sinks.drop();
  asked_ = false;
  if (stag == nullptr || !stag->covers(sink.lkey, ctx.pd, sink.address, abi::kAtomicBytes) ||
      !(stag->access & abi::kLocalWrite)) {
    return refuse(r, q, QpEvent::Kind::kLocalError, wire::rdma::kLocalCatastrophic);
  }
  BufferRef original = buffers_.take(r.segment.owner);
  store_le64(original->bytes(), r.response.original);
  const MemoryPiece m = stag->piece(sink.lkey, sink.address, abi::kAtomicBytes);
  dma->push({m.address, m.bytes, std::move(original), 0, 0, true, m.list});
  writes_.push({r.qpn, q.epoch});
  contexts_.in_flight.begin(StagWrites::kOriginalValue);
  count_response();
}

void ResponseQueue::refuse(const DeliveredAtomic& r, QpAtomics& q, QpEvent::Kind kind, wire::TerminateCause cause) {
  q.stopped = true;
  count_refused();
  event->push({kind, r.qpn, cause, r.segment});
}

// The value cannot be overtaken any more: the request is complete, and one fewer counts against ORD.
void ResponseQueue::complete() {
  const bool ok = written->pop().ok;
  contexts_.in_flight.end(StagWrites::kOriginalValue);
  const Write w = writes_.pop();
  if (w.epoch != contexts_.qp(w.qpn).epoch) return;
  done->push({w.qpn, ok});
  unblock->push({TxUnblock::Kind::kReadDone, w.qpn});
}

void ResponseQueue::reset() {
  qps_.assign(qps_.size(), {});
  pool_.reset();
  writes_ = {};
  asked_ = false;
}

Wake ResponseQueue::tick() {
  bool busy = false;
  if (written->can_pop() && done->can_push() && unblock->can_push()) {
    complete();
    busy = true;
  }
  if (issued->can_pop()) {
    const AtomicIssued a = issued->pop();
    pool_.push(qp(a.qpn).outstanding, a);
    busy = true;
  }
  if (in->can_pop() && look_up(in->front()) && dma->can_push() && event->can_push()) {
    match(in->pop());
    busy = true;
  }
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

std::string ResponseQueue::waiting_for() const {
  return writes_.empty() ? "" : "the write of an atomic's original value";
}

void ResponseQueue::describe(const Description& d) {
  d.counters(counters_);
  pool_.describe(d);
}

}  // namespace rnic
