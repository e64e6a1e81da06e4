#include "model/rnic/responder/read_responder.h"

#include "model/rnic/host_abi.h"

namespace rnic {

// A zero-length Read checks nothing (RFC 5040 section 5.2.1).
std::optional<wire::TerminateCause> ReadResponder::check(const QueuedRead& r) const {
  const wire::ReadRequest& q = r.request;
  if (q.size == 0) return {};
  const StagContext* stag = contexts_.named(Stag{q.src_stag});
  if (stag == nullptr) return wire::rdma::kInvalidStag;
  if (!stag->serves(r.qpn, contexts_.qp(r.qpn))) return wire::rdma::kStagNotAssociated;
  if (!(stag->access & abi::kRemoteRead)) return wire::rdma::kAccessRights;
  if (q.src_to + q.size < q.src_to) return wire::rdma::kToWrap;
  if (!stag->contains(q.src_to, q.size)) return wire::rdma::kBaseOrBounds;
  return {};
}

Wake ReadResponder::tick() {
  if (!in->can_pop() || !out->can_push() || !event->can_push()) return Wake::on_traffic();
  const QueuedRead r = in->pop();
  if (const auto cause = check(r)) {
    ++refused_;
    event->push(
        {QpEvent::Kind::kStreamError, r.qpn, *cause, r.segment});  // its IRRQ slot stays taken: the stream is over
  } else {
    ++reads_;
    bytes_ += r.request.size;
    const wire::ReadRequest& q = r.request;
    MemoryPiece source;
    if (q.size != 0) source = contexts_.stag(Stag{q.src_stag})->piece(q.src_stag, q.src_to, q.size);
    out->push({r.qpn, q.sink_stag, q.sink_to, source});
  }
  return Wake::next_cycle();
}

void ReadResponder::register_stats(const StatsGroup& group) const {
  group.counter("reads", reads_, "requests", "Read Requests answered");
  group.counter("bytes", bytes_, "B", "octets they asked for");
  group.counter("refused", refused_, "requests", "Read Requests that failed validation");
}

}  // namespace rnic
