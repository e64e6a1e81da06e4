#include "model/rnic/completion/response_queue.h"

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic {

// The QP's state, reset if the QP number was reused.
QpOrq& ResponseQueue::use(Qpn qpn, const OrqRow& row) {
  QpOrq& q = contexts_.orq_table.own(qpn.v, &OrqRow::state);
  if (q.epoch != row.qp.epoch) {
    pool_.clear(q.outstanding);
    q = QpOrq{};
    q.epoch = row.qp.epoch;
  }
  return q;
}

// ---- Requests: one a cycle is taken, and one executed. None waits for anything but its row.

bool ResponseQueue::take_request() {
  if (!issued->can_pop() || !requests.can_take()) return false;
  const AtomicIssued a = issued->pop();
  requests.take(a.qpn, a.epoch, a);
  return true;
}

bool ResponseQueue::execute_request() {
  if (!requests.ready()) return false;
  if (requests.ok() && requests.row().qp.epoch == requests.epoch()) {
    pool_.push(use(requests.id(), requests.row()).outstanding, requests.front());
  }
  requests.drop();
  return true;
}

// ---- Responses

bool ResponseQueue::take_response() {
  if (!in->can_pop() || !responses.can_take()) return false;
  const DeliveredAtomic r = in->pop();
  responses.take(r.qpn, r.epoch, r);
  return true;
}

// Whether one has come that is not counted. With a cache it may be that it has no place yet, as all wait for their
// rows.
bool ResponseQueue::has_request(Qpn qpn) {
  if (contexts_.orq_table.cached() && issued->any([qpn](const AtomicIssued& a) { return a.qpn == qpn; })) return true;
  return requests.about(qpn);
}

// The oldest one whose row is there, when it has what it needs. If the row is lost, so is the request that it answers.
bool ResponseQueue::execute_response() {
  const DeliveredAtomic& r = responses.front();
  const bool current = responses.ok() && responses.row().qp.epoch == responses.epoch();
  if (!look_up(current ? request_of(responses.row(), r) : nullptr)) return false;
  if (!responses.ok()) lost_.lose(r.qpn, responses.epoch());
  if (current) {
    if (!dma->can_push() || !event->can_push()) return false;
    if (!contexts_.orq_table.can_own(r.qpn.v)) return true;  // in a later cycle
    match(responses.row(), r);
  }
  responses.drop();
  return true;
}

// The request that the response answers, if it answers one: only then its sink's entry is needed.
const AtomicIssued* ResponseQueue::request_of(const OrqRow& row, const DeliveredAtomic& r) {
  const QpOrq q = row.current();
  if (q.stopped || !row.qp.valid || q.outstanding.empty()) return nullptr;
  const AtomicIssued& request = pool_.front(q.outstanding);
  return request.request_id == r.response.request_id ? &request : nullptr;
}

// Whether the entry of its sink is there. One that was asked for in vain, as the queue pair is gone meanwhile, is
// dropped when it comes.
bool ResponseQueue::look_up(const AtomicIssued* request) {
  if (!asked_) {
    if (request == nullptr) return true;
    if (sinks.can_ask()) {
      sinks.ask(index_of(Stag{request->sink.lkey}));
      asked_ = true;
    }
    return false;
  }
  if (!sinks.can_use()) return false;
  if (request == nullptr) {
    sinks.drop();
    asked_ = false;
  }
  return true;
}

// The n-th response answers the n-th request, which its identifier must confirm (choices.md 7). A response that nothing
// waits for has no buffer of QN 3.
void ResponseQueue::match(const OrqRow& row, const DeliveredAtomic& r) {
  if (row.current().stopped || !row.qp.valid) return;
  QpOrq& q = use(r.qpn, row);
  if (q.outstanding.empty()) return refuse(r, q, QpEvent::Kind::kStreamError, wire::ddp::kInvalidMsnNoBuffer);
  const AtomicIssued request = pool_.pop(q.outstanding);
  if (request.request_id != r.response.request_id) {
    return refuse(r, q, QpEvent::Kind::kStreamError, wire::rdma::kOperationUnspecified);
  }
  const abi::Sge& sink = request.sink;
  const StagContext* stag = sinks.ok() ? &sinks.row().stag : nullptr;
  sinks.drop();
  asked_ = false;
  if (stag == nullptr || !stag->covers(sink.lkey, r.pd, sink.address, abi::kAtomicBytes) ||
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

void ResponseQueue::refuse(const DeliveredAtomic& r, QpOrq& q, QpEvent::Kind kind, wire::TerminateCause cause) {
  q.stopped = true;
  count_refused();
  event->push({kind, r.qpn, cause, r.segment});
}

// The value cannot be overtaken any more: the request is complete, and one fewer counts against ORD.
void ResponseQueue::complete() {
  const bool ok = written->pop().ok;
  contexts_.in_flight.end(StagWrites::kOriginalValue);
  const Write w = writes_.pop();
  done->push({w.qpn, ok, w.epoch});
  unblock->push({TxUnblock::Kind::kReadDone, w.qpn, w.epoch});
}

void ResponseQueue::reset() {
  requests.reset();
  responses.reset();
  pool_.reset();
  writes_ = {};
  asked_ = false;
  lost_.reset();
}

// A response follows the requests of its queue pair that have come before it, or with it.
Wake ResponseQueue::tick() {
  bool busy = false;
  if (written->can_pop() && done->can_push() && unblock->can_push()) {
    complete();
    busy = true;
  }
  busy |= lost_.tell(event);
  busy |= take_request();
  const bool judges = responses.ready() && !has_request(responses.id());
  busy |= execute_request();
  if (judges) busy |= execute_response();
  busy |= take_response();
  return busy || (responses.ready() && !judges) ? Wake::next_cycle() : Wake::on_traffic();
}

std::string ResponseQueue::waiting_for() const {
  return writes_.empty() ? "" : "the write of an atomic's original value";
}

void ResponseQueue::describe(const Description& d) {
  d.counters(counters_);
  pool_.describe(d);
}

}  // namespace rnic
