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
  const StagContext* stag = contexts_.stag(Stag{sink.lkey});
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
  written->pop();
  contexts_.in_flight.end(StagWrites::kOriginalValue);
  const Write w = writes_.pop();
  if (w.epoch != contexts_.qp(w.qpn).epoch) return;
  done->push({w.qpn});
  unblock->push({TxUnblock::Kind::kReadDone, w.qpn});
}

void ResponseQueue::reset() {
  qps_.assign(qps_.size(), {});
  pool_ = {};
  writes_ = {};
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
  if (in->can_pop() && dma->can_push() && event->can_push()) {
    match(in->pop());
    busy = true;
  }
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

std::string ResponseQueue::waiting_for() const {
  return writes_.empty() ? "" : "the write of an atomic's original value";
}

void ResponseQueue::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
