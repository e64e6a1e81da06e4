// DdpPlacement: the untagged buffer model.
#include <algorithm>

#include "model/rnic/rx/ddp_placement.h"

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

// Which elements the octets [offset, offset + bytes) of the message go to. The caller has checked num_sge.
SegmentStags::List scattered(const abi::Wqe& wqe, std::uint64_t offset, std::uint64_t bytes) {
  SegmentStags::List list;
  for (unsigned i = 0; i < wqe.num_sge && bytes != 0; ++i) {
    const abi::Sge& s = wqe.sge[i];
    if (offset >= s.length) {
      offset -= s.length;
      continue;
    }
    list.index[list.size++] = index_of(Stag{s.lkey});
    bytes -= std::min(bytes, s.length - offset);
    offset = 0;
  }
  return list;
}

// Of a queue that takes more than Terminates.
std::uint32_t& expected_msn(QpRx& q, std::uint32_t qn) {
  if (qn == wire::kQnSend) return q.msn_send;
  return qn == wire::kQnReadRequest ? q.msn_request : q.msn_response;
}

bool is_usable(const FetchedRqe& request) { return request.ok && request.wqe.num_sge <= abi::kMaxSge; }

bool is_untagged(Opcode op, bool extended) {
  return wire::is_assigned(op) && !wire::is_tagged(op) && (op < Opcode::kImmediate || extended);
}

}  // namespace

// A Send's receive request is its own only when it is judged. If it is another one by then, other rows are needed.
// Nor is it known where its message goes on, other than from its MO, which is checked then.
void DdpPlacement::look_ahead(Qpn qpn, const wire::DdpUntaggedView& v, SegmentStags& needs) {
  const Opcode op = wire::RdmapControl::opcode(v.header.rdmap);
  if (wire::invalidates(op)) needs.name(Stag{v.header.invalidate_stag});
  if (!wire::is_send(op) || !contexts_.has(qpn)) return;
  const FetchedRqe* const request = requests_.peek(qpn);
  if (request == nullptr || !is_usable(*request)) return;
  needs.need(scattered(request->wqe, v.header.mo, v.payload.size()));
}

// Untagged delivery: RFC 5041 sections 5.3 and 7.1.
Cause DdpPlacement::untagged(const RxContext& ctx, QpRx& q, ByteSpan ulpdu) {
  const auto v = wire::DdpUntaggedView::parse(ulpdu);
  if (!v) return wire::rdma::kUnexpectedOpcode;
  const wire::DdpUntaggedHeader& h = v->header;
  if (h.version() != ctx.version) return wire::ddp::kUntaggedInvalidVersion;
  if (h.qn > wire::kQnAtomicResponse) return wire::ddp::kInvalidQn;
  if (wire::RdmapControl::version(h.rdmap) != ctx.version) return wire::rdma::kInvalidVersion;
  const Opcode op = wire::RdmapControl::opcode(h.rdmap);
  if (!is_untagged(op, ctx.extended())) return wire::rdma::kUnexpectedOpcode;
  if (wire::queue_number(op) != h.qn) return wire::ddp::kInvalidQn;  // choices.md 19
  PlacedSegment& s = job_->segment;
  s.opcode = op;
  s.last = h.last();
  s.stag = h.invalidate_stag;
  if (op == Opcode::kTerminate) return received_terminate(q, *v), Cause{};
  if (h.msn != expected_msn(q, h.qn)) return wire::ddp::kInvalidMsnRange;
  if (h.qn == wire::kQnReadRequest && q.requests >= ctx.ird)
    return wire::ddp::kInvalidMsnNoBuffer;  // RFC 6581 section 9.1
  if (const Cause cause = message(ctx, q, *v)) return cause;
  q.requests += h.qn == wire::kQnReadRequest;
  if (h.qn != wire::kQnSend) s.headers = FailedSegment::of(ulpdu, s.owner);
  if (waits_ == Wait::kNone && h.last()) ++expected_msn(q, h.qn);
  return {};
}

// By kind, in RDMAP's terms.
Cause DdpPlacement::message(const RxContext& ctx, QpRx& q, const wire::DdpUntaggedView& v) {
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

// The request for this message; without an error but with waits_ set, it is announced and still being fetched.
Cause DdpPlacement::receive_request(Qpn qpn) {
  const ReceiveRequests::Next next = requests_.next(qpn);
  if (next == ReceiveRequests::Next::kNone) return wire::ddp::kInvalidMsnNoBuffer;
  if (next == ReceiveRequests::Next::kLost) return wire::rdma::kLocalCatastrophic;
  if (next == ReceiveRequests::Next::kFetching) waits_ = Wait::kRequest;
  return {};
}

// Uses up a receive request of any size and is reported in its completion (choices.md 5 and 6).
Cause DdpPlacement::immediate(QpRx& q, const wire::DdpUntaggedView& v) {
  if (const Cause cause = receive_request(job_->segment.qpn); cause || waits_ != Wait::kNone) return cause;
  if (v.header.mo != 0 || q.offset != 0) return wire::ddp::kInvalidMo;
  const auto data = wire::ImmediateData::parse(v.payload);
  if (!data || v.payload.size() != wire::ImmediateData::kBytes || !v.header.last()) {
    return wire::rdma::kOperationUnspecified;
  }
  job_->segment.immediate = *data;
  job_->segment.wr_id = requests_.use(job_->segment.qpn);
  return {};
}

// Any error in it stays local: two ends must not answer each other (choices.md 18).
void DdpPlacement::received_terminate(QpRx& q, const wire::DdpUntaggedView& v) {
  PlacedSegment& s = job_->segment;
  const auto t = wire::TerminateHeader::parse(v.payload);
  s.cause = t ? t->cause : wire::rdma::kOperationUnspecified;
  if (t) s.headers = FailedSegment::told_by(*t);
  s.malformed = !t || v.header.msn != 1 || v.header.mo != 0 || !v.header.last();
  q.stop();
}

// A Send goes to the receive request at the head of the queue, across its scatter list.
Cause DdpPlacement::send(const RxContext& ctx, QpRx& q, const wire::DdpUntaggedView& v) {
  const wire::DdpUntaggedHeader& h = v.header;
  const auto bytes = static_cast<std::uint32_t>(v.payload.size());
  const Opcode op = job_->segment.opcode;
  if (ctx.absorbs_rtr_send && q.stream == RxStream::kNew && bytes == 0 && h.last() && !wire::invalidates(op)) {
    if (h.mo != 0) return wire::ddp::kInvalidMo;
    job_->segment.absorbed = true;
    return {};
  }
  if (const Cause cause = receive_request(job_->segment.qpn); cause || waits_ != Wait::kNone) return cause;
  const FetchedRqe& f = requests_.front(job_->segment.qpn);
  if (!is_usable(f)) return wire::ddp::kLocalCatastrophic;
  if (h.mo != q.offset) return wire::ddp::kInvalidMo;
  if (std::uint64_t{q.offset} + bytes > buffer_bytes(f.wqe)) return wire::ddp::kMessageTooLong;
  stags_of(*from_).need(scattered(f.wqe, q.offset, bytes));
  if (awaits_stags()) return {};
  if (wire::invalidates(op)) {
    if (const Cause cause = check_invalidate(ctx)) return cause;
  }
  if (const Cause cause = scatter(ctx, f.wqe, q.offset, bytes)) return cause;
  job_->offset += wire::DdpUntaggedHeader::kBytes;
  q.offset += bytes;
  job_->segment.octets = static_cast<std::uint16_t>(bytes);
  if (h.last()) {
    job_->segment.bytes = std::exchange(q.offset, 0u);
    job_->segment.wr_id = requests_.use(job_->segment.qpn);
    if (wire::invalidates(op)) end(Stag{h.invalidate_stag}, job_->segment.qpn);
  }
  return {};
}

// The octets [offset, offset + bytes) of the message; the caller has checked that the list holds them.
Cause DdpPlacement::scatter(const RxContext& ctx, const abi::Wqe& wqe, std::uint64_t offset, std::uint64_t bytes) {
  for (unsigned i = 0; bytes != 0; ++i) {
    const abi::Sge& s = wqe.sge[i];
    if (offset >= s.length) {
      offset -= s.length;
      continue;
    }
    const StagContext* stag = stags_of(*from_).at(job_->pieces);
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

// RFC 5040 section 8.1.1: a peer must not end a region that its owner may have shared with other streams. For the
// choice between the two codes see choices.md 9.
Cause DdpPlacement::check_invalidate(const RxContext& ctx) {
  const NamedStag& stag = stags_of(*from_).named;
  const StagContext* s = stag.named();
  if (s == nullptr) return wire::rdma::kUnknownStagCannotBeInvalidated;
  const bool shared = !s->allocated && !(s->access & abi::kRemoteInvalidate);
  if (!s->serves(ctx.user(job_->segment.qpn)) || shared || !stag.may_be_invalidated()) {
    return wire::rdma::kForeignStagCannotBeInvalidated;
  }
  return {};
}

}  // namespace rnic
