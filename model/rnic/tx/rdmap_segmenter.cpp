#include "model/rnic/tx/rdmap_segmenter.h"

#include <algorithm>

namespace rnic {

using wire::Opcode;

// The QP's state, started anew where the QP number was reused.
RdmapSegmenter::QpTx& RdmapSegmenter::qp(Qpn qpn) {
  QpTx& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    const bool listed = q.listed;
    wqe_pool_.clear(q.wqes);
    internal_pool_.clear(q.internal);
    q = QpTx{};
    q.epoch = epoch;
    q.listed = listed;
  }
  return q;
}

// The FPDU of such a ULPDU, the markers at its place in the stream included.
std::size_t RdmapSegmenter::fpdu_bytes(const QpContext& ctx, const QpTx& q, std::uint32_t ulpdu) const {
  return contexts_.flow(ctx.flow).tx_markers ? wire::marked_fpdu_bytes(q.position, ulpdu) : wire::fpdu_bytes(ulpdu);
}

bool RdmapSegmenter::has_credit(const QpContext& ctx, const QpTx& q, const OutboundMessage& m) const {
  return q.credit >= fpdu_bytes(ctx, q, next_ulpdu_bytes(m, ctx.mulpdu));
}

// The request that is being cut or, none being so, the one to start; none if it has to wait for its turn.
std::optional<OutboundMessage> RdmapSegmenter::next_request(const QpContext& ctx, const QpTx& q) const {
  if (q.request.active) return q.request;
  if (!q.internal.empty()) return internal_message(internal_pool_.front(q.internal));
  if (q.wqes.empty()) return {};
  const abi::Wqe& w = wqe_pool_.front(q.wqes).wqe;
  if ((w.flags & abi::kWqeFence) && q.reads != 0) return {};
  if (w.opcode == abi::WrOpcode::kRdmaRead && q.reads >= ctx.ord && ctx.ord != 0) return {};  // 0 fails in check()
  OutboundMessage m;
  m.opcode = opcode_of(w);
  m.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(request_bytes(w), 0xffffffffu));
  return m;
}

// The host's messages and responses may go out.
bool RdmapSegmenter::open(const QpContext& ctx, const QpTx& q) {
  const bool sends = ctx.state == QpState::kRts || ctx.state == QpState::kClosing;
  return ctx.valid && sends && !q.halted && !(ctx.responder && !q.unfenced);
}

// What this QP could send now. Requests and responses alternate by FPDU, but two tagged messages are never
// interleaved: no field of a tagged segment says which message it belongs to, and peers refuse it.
RdmapSegmenter::Source RdmapSegmenter::next(Qpn qpn, const QpTx& q) const {
  const QpContext& ctx = contexts_.qp(qpn);
  if (q.flushing) return q.wqes.empty() ? Source::kNone : Source::kFlush;
  const bool host = open(ctx, q);
  const bool idle = !host || (!q.request.active && !q.response.active && q.wqes.empty());
  if (q.draining && idle && q.internal.empty()) return Source::kDrain;
  if (!host && (q.internal.empty() || !ctx.valid)) return Source::kNone;
  const bool inside_write = q.request.active && q.request.tagged();
  const bool inside_response = q.response.active && q.response.done != 0;
  const bool response = host && q.response.active && !inside_write && has_credit(ctx, q, q.response);
  const std::optional<OutboundMessage> m =
      host ? next_request(ctx, q) : internal_message(internal_pool_.front(q.internal));
  const bool request = m && !(m->tagged() && inside_response) && has_credit(ctx, q, *m);
  if (response && (q.response_turn || !request)) return Source::kResponse;
  return request ? Source::kRequest : Source::kNone;
}

void RdmapSegmenter::list(Qpn qpn) {
  QpTx& q = qp(qpn);
  if (q.listed || next(qpn, q) == Source::kNone) return;
  q.listed = true;
  list_pool_.push(listed_, qpn);
}

// Takes at most one item from each input a cycle.
bool RdmapSegmenter::accept() {
  bool busy = false;
  if (wqe->can_pop()) {
    FetchedWqe f = wqe->pop();
    const Qpn qpn = f.qpn;
    wqe_pool_.push(qp(qpn).wqes, std::move(f));
    list(qpn);
    busy = true;
  }
  if (credit->can_pop()) {
    const TxCredit c = credit->pop();
    if (const std::optional<Qpn> qpn = contexts_.qp_of(c.flow)) {
      qp(*qpn).credit += c.bytes;
      list(*qpn);
    }
    busy = true;
  }
  if (unblock->can_pop()) {
    const TxUnblock u = unblock->pop();
    QpTx& q = qp(u.qpn);
    if (u.kind == TxUnblock::Kind::kFirstFpdu) q.unfenced = true;
    else if (q.reads > 0) --q.reads;
    list(u.qpn);
    busy = true;
  }
  if (read_work->can_pop()) {
    const ReadWork r = read_work->pop();
    QpTx& q = qp(r.qpn);
    RNIC_CHECK(!q.response.active);  // the IRRQ hands over one request of a QP at a time
    q.response = {};
    q.response.opcode = Opcode::kReadResponse;
    q.response.active = true;
    q.response.bytes = r.bytes;
    q.response.stag = r.sink_stag;
    q.response.address = r.sink_to;
    q.response_source = r.source;
    list(r.qpn);
    busy = true;
  }
  if (internal_work->can_pop() && flush_rq->can_push() && issued->can_push()) {
    take(internal_work->pop());
    busy = true;
  }
  return busy;
}

void RdmapSegmenter::take(const TxInternalWork& work) {
  QpTx& q = qp(work.qpn);
  switch (work.kind) {
    case TxInternalWork::Kind::kDrain:
      q.draining = true;
      break;
    case TxInternalWork::Kind::kFlush:
      q.flushing = true;
      q.request.active = q.response.active = false;
      internal_pool_.clear(q.internal);
      mark(work.qpn, WqeIssued::Marker::kFlush);
      flush_rq->push({work.qpn});
      break;
    default:
      internal_pool_.push(q.internal, work);
  }
  list(work.qpn);
}

void RdmapSegmenter::mark(Qpn qpn, WqeIssued::Marker marker) {
  WqeIssued m;
  m.qpn = qpn;
  m.marker = marker;
  issued->push(m);
}

// Errors that are found before anything of the request is sent.
abi::WcStatus RdmapSegmenter::check(const QpContext& ctx, const FetchedWqe& f) const {
  const abi::Wqe& w = f.wqe;
  if (!f.ok) return abi::WcStatus::kGeneralErr;
  if (w.opcode > abi::WrOpcode::kSendWithInv || w.num_sge > abi::kMaxSge) return abi::WcStatus::kLocQpOpErr;
  const bool read = w.opcode == abi::WrOpcode::kRdmaRead;
  if (read && (w.num_sge > 1 || (w.flags & abi::kWqeInline) || ctx.ord == 0)) return abi::WcStatus::kLocQpOpErr;
  if (w.flags & abi::kWqeInline) {
    return w.inline_bytes > sizeof w.sge ? abi::WcStatus::kLocLenErr : abi::WcStatus::kSuccess;
  }
  if (request_bytes(w) > 0xffffffffu) return abi::WcStatus::kLocLenErr;
  for (unsigned i = 0; i < w.num_sge; ++i) {
    const abi::Sge& s = w.sge[i];
    if (s.length == 0) continue;
    const StagContext* stag = contexts_.stag(Stag{s.lkey});
    if (stag == nullptr || !stag->covers(s.lkey, ctx.pd, s.address, s.length)) return abi::WcStatus::kLocProtErr;
    if (read && !(stag->access & abi::kLocalWrite)) return abi::WcStatus::kLocProtErr;
  }
  return abi::WcStatus::kSuccess;
}

void RdmapSegmenter::fail(Qpn qpn, QpTx& q, abi::WcStatus status) {
  reject(qpn, q, status);
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
  q.halted = true;
  ++failed_;
}

// The oldest work request completes with an error, nothing of it is sent.
void RdmapSegmenter::reject(Qpn qpn, QpTx& q, abi::WcStatus status) {
  const abi::Wqe& w = wqe_pool_.front(q.wqes).wqe;
  issued->push({qpn, w.wr_id, 0, w.opcode, status, true});
  wqe_pool_.pop(q.wqes);
  taken->push({qpn});
}

void RdmapSegmenter::start_request(Qpn qpn, QpTx& q) {
  const FetchedWqe& f = wqe_pool_.front(q.wqes);
  const QpContext& ctx = contexts_.qp(qpn);
  if (const abi::WcStatus status = check(ctx, f); status != abi::WcStatus::kSuccess) return fail(qpn, q, status);
  OutboundMessage& m = q.request;
  m = {};
  m.opcode = opcode_of(f.wqe);
  m.active = true;
  m.completes = m.opcode != Opcode::kReadRequest;
  m.bytes = static_cast<std::uint32_t>(request_bytes(f.wqe));
  m.stag = m.tagged() ? f.wqe.rkey : wire::invalidates(m.opcode) ? f.wqe.invalidate_stag : 0;
  m.address = f.wqe.remote_address;
  number(q, m);
}

// RFC 6581's ready-to-receive messages: zero length, absorbed by the peer, no work request behind them. Or a Terminate
// without headers, the only one of its stream.
OutboundMessage RdmapSegmenter::internal_message(const TxInternalWork& work) {
  OutboundMessage m;
  m.active = true;
  switch (work.kind) {
    case TxInternalWork::Kind::kRtrSend:
      m.opcode = Opcode::kSend;
      break;
    case TxInternalWork::Kind::kRtrWrite:
      m.opcode = Opcode::kWrite;
      break;
    case TxInternalWork::Kind::kRtrRead:
      m.opcode = Opcode::kReadRequest;
      break;
    default:
      m.opcode = Opcode::kTerminate;
      m.msn = 1;
      m.terminate = wire::terminate_word(work.cause);
  }
  return m;
}

void RdmapSegmenter::start_internal(Qpn qpn, QpTx& q) {
  q.request = internal_message(internal_pool_.pop(q.internal));
  number(q, q.request);
  if (q.request.opcode != Opcode::kReadRequest) return;
  issued->push({qpn, 0, 0, abi::WrOpcode::kRdmaRead, abi::WcStatus::kSuccess, false, true});
}

// An untagged message takes the next MSN of its queue; a Read Request counts against ORD.
void RdmapSegmenter::number(QpTx& q, OutboundMessage& m) {
  if (m.opcode == Opcode::kReadRequest) {
    m.msn = q.msn_read++;
    ++q.reads;
  } else if (wire::is_send(m.opcode)) {
    m.msn = q.msn_send++;
  }
}

// Writes the headers of the message's next segment and says where its payload is. w is null for a Read Response and
// for a ready-to-receive message.
void RdmapSegmenter::cut_segment(Qpn qpn, QpTx& q, OutboundMessage& m, const abi::Wqe* w) {
  const QpContext& ctx = contexts_.qp(qpn);
  UlpduJob job;
  job.qpn = qpn;
  job.header_bytes = static_cast<std::uint16_t>(segment_header_bytes(m.opcode));
  job.ulpdu.buf = buffers_.take();
  job.ulpdu.flow = ctx.flow;
  job.ulpdu.bytes = static_cast<std::uint16_t>(next_ulpdu_bytes(m, ctx.mulpdu));
  const std::uint32_t payload = job.ulpdu.bytes - job.header_bytes;
  const bool last = m.done + payload >= m.bytes || m.opcode == Opcode::kReadRequest;
  job.ulpdu.completes_wqe = last && m.completes;
  const MutableByteSpan at(job.ulpdu.buf->bytes() + Ulpdu::kOffset, job.ulpdu.bytes);
  emit_ddp_header(m, last, ctx.version, at);
  if (m.opcode == Opcode::kReadRequest) {
    read_request_of(w, m.bytes).emit(at.subspan(wire::DdpUntaggedHeader::kBytes));
  }
  if (m.opcode == Opcode::kTerminate) store_be32(at.data() + wire::DdpUntaggedHeader::kBytes, m.terminate);
  if (payload != 0) {
    if (m.opcode == Opcode::kReadResponse) job.piece[job.pieces++] = {q.response_source + m.done, payload};
    else if (w->flags & abi::kWqeInline) copy_inline(*w, payload, m, at.data() + job.header_bytes);
    else gather(*w, payload, m, job);
  }
  const std::size_t fpdu = fpdu_bytes(ctx, q, job.ulpdu.bytes);
  RNIC_CHECK(q.credit >= fpdu);
  q.credit -= fpdu;
  q.position += static_cast<wire::StreamPosition>(fpdu);
  m.done += payload;
  m.active = !last;
  ++fpdus_;
  payload_bytes_ += payload;
  out->push(std::move(job));
}

void RdmapSegmenter::finish_request(Qpn qpn, QpTx& q) {
  const abi::Wqe& w = wqe_pool_.front(q.wqes).wqe;
  issued->push({qpn, w.wr_id, q.request.bytes, w.opcode, abi::WcStatus::kSuccess, (w.flags & abi::kWqeSignaled) != 0});
  wqe_pool_.pop(q.wqes);
  taken->push({qpn});
}

// One FPDU of the QP whose turn it is.
bool RdmapSegmenter::cut() {
  if (listed_.empty() || !out->can_push() || !issued->can_push() || !taken->can_push() || !event->can_push() ||
      !read_sent->can_push()) {
    return false;
  }
  const Qpn qpn = list_pool_.pop(listed_);
  QpTx& q = qp(qpn);
  q.listed = false;
  switch (next(qpn, q)) {
    case Source::kNone:
      return true;  // the QP went away meanwhile
    case Source::kFlush:
      reject(qpn, q, abi::WcStatus::kWrFlushErr);
      break;
    case Source::kDrain:
      q.draining = false;
      mark(qpn, WqeIssued::Marker::kDrain);
      break;
    case Source::kResponse:
      cut_segment(qpn, q, q.response, nullptr);
      if (!q.response.active) read_sent->push({qpn});
      q.response_turn = false;
      break;
    case Source::kRequest: {
      q.response_turn = true;
      const bool between = !q.request.active || !open(contexts_.qp(qpn), q);  // what is half sent is given up
      if (between && !q.internal.empty()) {
        start_internal(qpn, q);
        cut_segment(qpn, q, q.request, nullptr);
        break;
      }
      if (!q.request.active) start_request(qpn, q);
      if (q.halted) break;
      cut_segment(qpn, q, q.request, &wqe_pool_.front(q.wqes).wqe);
      if (!q.request.active) finish_request(qpn, q);
      break;
    }
  }
  list(qpn);
  return true;
}

Wake RdmapSegmenter::tick() {
  const bool accepted = accept();
  const bool sent = cut();
  return accepted || sent ? Wake::next_cycle() : Wake::on_traffic();
}

std::string RdmapSegmenter::waiting_for() const {
  for (std::uint32_t n = 0; n < qps_.size(); ++n) {
    const QpTx& q = qps_[n];
    if (q.halted || (q.wqes.empty() && !q.request.active && !q.response.active)) continue;
    const QpContext& ctx = contexts_.qp(Qpn{n});
    const std::string who = "QP " + std::to_string(n) + " has work and waits for ";
    if (ctx.state != QpState::kRts) return who + "its connection";
    if (ctx.responder && !q.unfenced) return who + "the first FPDU of its peer";
    if (q.reads != 0 && !q.request.active && !q.response.active) return who + "read responses (ORD or fence)";
    return who + "TCP window";
  }
  return {};
}

void RdmapSegmenter::register_stats(const StatsGroup& group) const {
  group.counter("fpdus", fpdus_, "FPDUs", "DDP segments cut");
  group.counter("payload_bytes", payload_bytes_, "B", "payload octets in them");
  group.counter("failed", failed_, "WQEs", "work requests refused before anything of them was sent");
}

}  // namespace rnic
