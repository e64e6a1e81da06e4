#include "model/rnic/rx/ddp_placement.h"

#include <algorithm>

#include "model/common/burst.h"
#include "model/rnic/context/stag_work.h"
#include "model/wire/fpdu.h"

namespace rnic {

using wire::Opcode;
using Cause = std::optional<wire::TerminateCause>;

namespace {

// The caller has checked num_sge.
std::uint64_t buffer_bytes(const abi::Wqe& w) {
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < w.num_sge; ++i) bytes += w.sge[i].length;
  return bytes;
}

// A buffer of QN 1 or 3 holds exactly one Read Request, Atomic Request or Atomic Response, which fits one segment.
template <class Message>
Cause whole(const wire::DdpUntaggedView& v, Message& out) {
  if (v.header.mo != 0) return wire::ddp::kInvalidMo;
  if (v.payload.size() > Message::kBytes) return wire::ddp::kMessageTooLong;
  const auto message = Message::parse(v.payload);
  if (!message || !v.header.last()) return wire::rdma::kOperationUnspecified;
  out = *message;
  return {};
}

// RDMAC peers know no extensions (wire-facts 8.28).
bool is_untagged(Opcode op, std::uint8_t version) {
  return wire::is_assigned(op) && !wire::is_tagged(op) && (op < Opcode::kImmediate || version == wire::kRdmapVersion);
}

}  // namespace

// The QP's state, started anew where the QP number was reused.
DdpPlacement::QpRx& DdpPlacement::qp(Qpn qpn) {
  QpRx& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    q = QpRx{};
    q.epoch = epoch;
  }
  return q;
}

bool DdpPlacement::accept() {
  bool busy = false;
  if (posted->can_pop() && event->can_push()) {
    const RqDoorbell d = posted->pop();
    if (!requests_.announce(d) && !d.rqn.shared) overrun(Qpn{d.rqn.v});
    busy = true;
  }
  if (rqe->can_pop()) {
    requests_.arrive(rqe->pop());
    busy = true;
  }
  if (srq_arm->can_pop()) {
    requests_.arm(srq_arm->pop());
    busy = true;
  }
  if (flush->can_pop()) {
    const Qpn qpn = flush->pop().qpn;
    requests_.end(qpn);
    qp(qpn).stopped = true;
    busy = true;
  }
  return busy;
}

// The firmware ends the stream; one that is not there yet ends with its first message, at the latest.
void DdpPlacement::overrun(Qpn qpn) {
  QpRx& q = qp(qpn);
  if (q.stopped) return;
  q.stopped = contexts_.qp(qpn).state == QpState::kRts;
  ++errors_;
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
}

// One receive request a cycle completes unused.
bool DdpPlacement::flush_one() {
  if (job_ || !requests_.has_unused() || !out->can_push()) return false;
  const auto unused = requests_.take_unused();
  if (!unused) return true;
  PlacedSegment s;
  s.qpn = unused->qpn;
  s.flushed = true;
  s.wr_id = unused->wr_id;
  out->push(s);
  return true;
}

// What happened to the rings' requests, one of each kind a cycle.
bool DdpPlacement::tell() {
  bool busy = false;
  if (!requests_.freed().empty() && rqe_taken->can_push()) {
    rqe_taken->push(requests_.freed().pop());
    busy = true;
  }
  if (!requests_.events().empty() && srq_event->can_push()) {
    srq_event->push(requests_.events().pop());
    busy = true;
  }
  return busy;
}

// Tagged placement: RFC 5041 section 5.2 and 7.1, in the order of wire-facts section 4.
Cause DdpPlacement::tagged(const QpContext& ctx, QpRx& q, ByteSpan ulpdu) {
  const auto v = wire::DdpTaggedView::parse(ulpdu);
  if (!v) return wire::rdma::kUnexpectedOpcode;  // shorter than its header
  if (v->header.version() != ctx.version) return wire::ddp::kTaggedInvalidVersion;
  const Opcode op = wire::RdmapControl::opcode(v->header.rdmap);
  if (wire::RdmapControl::version(v->header.rdmap) != ctx.version) return wire::rdma::kInvalidVersion;
  if (!wire::is_tagged(op)) return wire::rdma::kUnexpectedOpcode;
  const auto bytes = static_cast<std::uint32_t>(v->payload.size());
  if (bytes != 0) {
    const std::uint64_t to = v->header.to;
    const StagContext* stag = contexts_.named(Stag{v->header.stag});
    const std::uint8_t right = op == Opcode::kWrite ? abi::kRemoteWrite : abi::kLocalWrite;
    if (stag == nullptr) return wire::ddp::kInvalidStag;
    if (!stag->serves(job_->segment.qpn, ctx)) return wire::ddp::kStagNotAssociated;
    if (!(stag->access & right)) return wire::ddp::kInvalidStag;  // wire-facts 8.20
    if (to + bytes < to) return wire::ddp::kToWrap;
    if (!stag->contains(to, bytes)) return wire::ddp::kBaseOrBounds;
    job_->piece[job_->pieces++] = stag->piece(v->header.stag, to, bytes);
  }
  job_->offset += wire::DdpTaggedHeader::kBytes;
  q.tagged_bytes += bytes;
  job_->segment.opcode = op;
  job_->segment.last = v->header.last();
  if (v->header.last()) job_->segment.bytes = std::exchange(q.tagged_bytes, 0u);
  return {};
}

// Untagged delivery: RFC 5041 sections 5.3 and 7.1.
Cause DdpPlacement::untagged(const QpContext& ctx, QpRx& q, ByteSpan ulpdu) {
  const auto v = wire::DdpUntaggedView::parse(ulpdu);
  if (!v) return wire::rdma::kUnexpectedOpcode;
  const wire::DdpUntaggedHeader& h = v->header;
  if (h.version() != ctx.version) return wire::ddp::kUntaggedInvalidVersion;
  if (h.qn > wire::kQnAtomicResponse) return wire::ddp::kInvalidQn;
  if (wire::RdmapControl::version(h.rdmap) != ctx.version) return wire::rdma::kInvalidVersion;
  const Opcode op = wire::RdmapControl::opcode(h.rdmap);
  if (!is_untagged(op, ctx.version)) return wire::rdma::kUnexpectedOpcode;
  if (wire::queue_number(op) != h.qn) return wire::ddp::kInvalidQn;  // wire-facts 8.53
  PlacedSegment& s = job_->segment;
  s.opcode = op;
  s.last = h.last();
  s.stag = h.invalidate_stag;
  if (op == Opcode::kTerminate) return received_terminate(q, *v), Cause{};
  if (h.msn != q.msn[h.qn]) return wire::ddp::kInvalidMsnRange;
  if (const Cause cause = message(ctx, q, *v)) return cause;
  if (h.qn != wire::kQnSend) s.headers = FailedSegment::of(ulpdu);
  if (!waiting_ && h.last()) ++q.msn[h.qn];
  return {};
}

// By kind, as RDMAP has it.
Cause DdpPlacement::message(const QpContext& ctx, QpRx& q, const wire::DdpUntaggedView& v) {
  PlacedSegment& s = job_->segment;
  switch (s.opcode) {
    case Opcode::kReadRequest:
      return whole(v, s.read);
    case Opcode::kAtomicRequest:
      return whole(v, s.atomic);
    case Opcode::kAtomicResponse:
      return whole(v, s.atomic_response);
    case Opcode::kImmediate:
    case Opcode::kImmediateSe:
      return immediate(q, v);
    default:
      return send(ctx, q, v);
  }
}

// The one for this message; without an error but with waiting_ set, it is announced and still being fetched.
Cause DdpPlacement::receive_request(Qpn qpn) {
  const ReceiveRequests::Next next = requests_.next(qpn);
  if (next == ReceiveRequests::Next::kNone) return wire::ddp::kInvalidMsnNoBuffer;
  if (next == ReceiveRequests::Next::kLost) return wire::rdma::kLocalCatastrophic;
  waiting_ = next == ReceiveRequests::Next::kFetching;
  return {};
}

// Uses up a receive request of any size and goes into its completion (wire-facts 8.8 and 8.9).
Cause DdpPlacement::immediate(QpRx& q, const wire::DdpUntaggedView& v) {
  if (const Cause cause = receive_request(job_->segment.qpn); cause || waiting_) return cause;
  if (v.header.mo != 0 || q.offset != 0) return wire::ddp::kInvalidMo;
  const auto data = wire::ImmediateData::parse(v.payload);
  if (!data || v.payload.size() != wire::ImmediateData::kBytes || !v.header.last()) {
    return wire::rdma::kOperationUnspecified;
  }
  job_->segment.immediate = *data;
  q.first_send_done = true;
  job_->segment.wr_id = requests_.use(job_->segment.qpn);
  return {};
}

// Whatever is wrong with it is only local: two ends must not answer each other (wire-facts 8.52).
void DdpPlacement::received_terminate(QpRx& q, const wire::DdpUntaggedView& v) {
  PlacedSegment& s = job_->segment;
  const auto t = wire::TerminateHeader::parse(v.payload);
  s.cause = t ? t->cause : wire::rdma::kOperationUnspecified;
  if (t) s.headers = FailedSegment::told_by(*t);
  s.malformed = !t || v.header.msn != 1 || v.header.mo != 0 || !v.header.last();
  q.stopped = true;
}

// A Send goes to the receive request at the head of the queue, across its scatter list.
Cause DdpPlacement::send(const QpContext& ctx, QpRx& q, const wire::DdpUntaggedView& v) {
  const wire::DdpUntaggedHeader& h = v.header;
  const auto bytes = static_cast<std::uint32_t>(v.payload.size());
  const Opcode op = job_->segment.opcode;
  if (ctx.absorbs_rtr_send && !q.first_send_done && bytes == 0 && h.last() && !wire::invalidates(op)) {
    if (h.mo != 0) return wire::ddp::kInvalidMo;
    q.first_send_done = job_->segment.absorbed = true;
    return {};
  }
  if (const Cause cause = receive_request(job_->segment.qpn); cause || waiting_) return cause;
  const FetchedRqe& f = requests_.front(job_->segment.qpn);
  if (!f.ok || f.wqe.num_sge > abi::kMaxSge) return wire::ddp::kLocalCatastrophic;
  if (h.mo != q.offset) return wire::ddp::kInvalidMo;
  if (std::uint64_t{q.offset} + bytes > buffer_bytes(f.wqe)) return wire::ddp::kMessageTooLong;
  if (wire::invalidates(op)) {
    if (const Cause cause = check_invalidate(ctx, h.invalidate_stag)) return cause;
  }
  if (const Cause cause = scatter(ctx, f.wqe, q.offset, bytes)) return cause;
  job_->offset += wire::DdpUntaggedHeader::kBytes;
  q.offset += bytes;
  q.first_send_done = true;
  if (h.last()) {
    job_->segment.bytes = std::exchange(q.offset, 0u);
    job_->segment.wr_id = requests_.use(job_->segment.qpn);
  }
  return {};
}

// The octets [offset, offset + bytes) of the message; the caller has checked that the list holds them.
Cause DdpPlacement::scatter(const QpContext& ctx, const abi::Wqe& wqe, std::uint64_t offset, std::uint64_t bytes) {
  for (unsigned i = 0; bytes != 0; ++i) {
    const abi::Sge& s = wqe.sge[i];
    if (offset >= s.length) {
      offset -= s.length;
      continue;
    }
    const StagContext* stag = contexts_.stag(Stag{s.lkey});
    if (stag == nullptr || !stag->covers(s.lkey, ctx.pd, s.address, s.length) || !(stag->access & abi::kLocalWrite)) {
      return wire::ddp::kLocalCatastrophic;
    }
    const std::uint64_t take = std::min(bytes, s.length - offset);
    job_->piece[job_->pieces++] = stag->piece(s.lkey, s.address + offset, static_cast<std::uint32_t>(take));
    bytes -= take;
    offset = 0;
  }
  return {};
}

// RFC 5040 section 8.1.1; which of the two codes says what: wire-facts 8.16.
Cause DdpPlacement::check_invalidate(const QpContext& ctx, std::uint32_t stag) const {
  const StagContext* s = contexts_.named(Stag{stag});
  if (s == nullptr) return wire::rdma::kUnknownStagCannotBeInvalidated;
  if (!s->serves(job_->segment.qpn, ctx) || !may_invalidate(contexts_, Stag{stag})) {
    return wire::rdma::kForeignStagCannotBeInvalidated;
  }
  return {};
}

void DdpPlacement::stop(Qpn qpn, QpRx& q, wire::TerminateCause cause, ByteSpan ulpdu) {
  q.stopped = true;
  ++errors_;
  event->push({QpEvent::Kind::kStreamError, qpn, cause, FailedSegment::of(ulpdu)});
}

// Called with the whole FPDU there; fills job_ and leaves it empty unless the answer is kPlace.
DdpPlacement::Verdict DdpPlacement::judge(const FpduBeat& last) {
  waiting_ = false;
  const std::optional<Qpn> carried = contexts_.qp_of(last.flow);
  if (!carried) return Verdict::kDrop;
  const Qpn qpn = *carried;
  QpRx& q = qp(qpn);
  const QpContext& ctx = contexts_.qp(qpn);
  const bool over = ctx.state == QpState::kTerminate || ctx.state == QpState::kError;
  if (q.stopped || !ctx.valid || over) return Verdict::kDrop;  // RFC 5041 section 7.1: silently
  if (!last.crc_ok || !last.marker_ok) {
    stop(qpn, q, last.crc_ok ? wire::mpa::kMarkerMismatch : wire::mpa::kCrcMismatch, {});
    return Verdict::kDrop;
  }
  const ByteSpan ulpdu(fpdu_ + wire::kUlpduLengthBytes, load_be16(fpdu_));
  job_.emplace();
  job_->segment.qpn = qpn;
  job_->offset = static_cast<std::uint32_t>(ulpdu.data() - last.buf->bytes());
  const bool is_tagged = !ulpdu.empty() && wire::DdpControl::tagged(ulpdu[0]);
  const Cause cause = is_tagged ? tagged(ctx, q, ulpdu) : untagged(ctx, q, ulpdu);
  if (!cause && !waiting_) return Verdict::kPlace;
  job_.reset();
  if (waiting_) return Verdict::kWait;
  stop(qpn, q, *cause, ulpdu);
  return Verdict::kDrop;
}

// One beat a cycle; those before an FPDU's last one are never refused.
void DdpPlacement::collect(Cycle until) {
  BurstIn from(*in);
  for (Cycle at; (at = std::max(from.front_at(), next_beat_)) <= until && !from.front().last; from.drop(at)) {
    if (from.front().first) fpdu_ = from.front().data;
    next_beat_ = at + 1;
  }
}

// The last one waits until the segment before it is on its way.
bool DdpPlacement::take_last() {
  if (beat_at() > now() || job_ || !event->can_push()) return false;
  if (in->front().first) fpdu_ = in->front().data;
  const Verdict verdict = judge(in->front());
  if (verdict == Verdict::kWait) return false;
  BufferRef buf = BufferRef::adopt(in->pop().buf);
  next_beat_ = now() + 1;
  if (verdict == Verdict::kPlace) job_->buf = std::move(buf);
  return true;
}

bool DdpPlacement::write() {
  if (!job_) return false;
  PlacementJob& j = *job_;
  if (j.written < j.pieces) {
    if (!dma->can_push()) return false;
    MemoryPiece& m = j.piece[j.written];
    const BusPiece p = contexts_.take(m);
    j.written += m.bytes == 0;
    const bool notify = j.written == j.pieces;
    dma->push({p.address, p.bytes, j.buf, j.offset, 0, notify});
    j.offset += p.bytes;
    payload_bytes_ += p.bytes;
    j.segment.awaits_write = true;
    if (j.written < j.pieces) return true;
  }
  if (!out->can_push()) return false;
  out->push(j.segment);
  ++segments_;
  job_.reset();
  return true;
}

Wake DdpPlacement::tick() {
  bool busy = accept();
  busy |= write() || flush_one();  // both give one segment to the dispatcher
  collect(now());
  busy |= take_last();
  busy |= tell();
  collect(horizon());
  // While a QP's receive request is awaited its context may end the wait as well.
  if (busy || waiting_) return Wake::next_cycle();
  return beat_at() > now() ? Wake::at_cycle(beat_at()) : Wake::on_traffic();
}

std::string DdpPlacement::waiting_for() const {
  if (job_) return "DMA write of QP " + std::to_string(job_->segment.qpn.v);
  return waiting_ ? "a receive request that is being fetched" : "";
}

void DdpPlacement::register_stats(const StatsGroup& group) const {
  group.counter("segments", segments_, "segments", "DDP segments validated and placed");
  group.counter("payload_bytes", payload_bytes_, "B", "payload octets written to host memory");
  group.counter("errors", errors_, "streams", "streams stopped by a DDP, RDMAP or MPA error");
}

}  // namespace rnic
