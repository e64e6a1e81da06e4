#include "model/rnic/tx/rdmap_segmenter.h"

#include <algorithm>
#include <cstring>

namespace rnic {

using wire::Opcode;

namespace {

Opcode opcode_of(const abi::Wqe& w) {
  const bool se = w.flags & abi::kWqeSolicited;
  switch (w.opcode) {
    case abi::WrOpcode::kRdmaWrite:
      return Opcode::kWrite;
    case abi::WrOpcode::kRdmaRead:
      return Opcode::kReadRequest;
    case abi::WrOpcode::kSendWithInv:
      return se ? Opcode::kSendSeInvalidate : Opcode::kSendInvalidate;
    case abi::WrOpcode::kSend:
      break;
  }
  return se ? Opcode::kSendSe : Opcode::kSend;
}

std::uint64_t payload_of(const abi::Wqe& w) {
  if (w.flags & abi::kWqeInline) return w.inline_bytes;
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < w.num_sge; ++i) bytes += w.sge[i].length;
  return bytes;
}

constexpr std::uint32_t header_bytes(Opcode op) {
  if (wire::is_tagged(op)) return wire::DdpTaggedHeader::kBytes;
  return wire::DdpUntaggedHeader::kBytes + (op == Opcode::kReadRequest ? wire::ReadRequest::kBytes : 0u);
}

constexpr std::size_t kInlineOffset = offsetof(abi::Wqe, sge);

}  // namespace

// The QP's state, started anew where the QP number was reused.
RdmapSegmenter::QpTx& RdmapSegmenter::qp(Qpn qpn) {
  QpTx& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    const bool listed = q.listed;
    wqe_pool_.clear(q.wqes);
    rtr_pool_.clear(q.rtr);
    q = QpTx{};
    q.epoch = epoch;
    q.listed = listed;
  }
  return q;
}

std::uint32_t RdmapSegmenter::ulpdu_bytes(const QpContext& ctx, const Message& m) {
  const std::uint32_t header = header_bytes(m.opcode);
  if (m.opcode == Opcode::kReadRequest) return header;
  return header + std::min<std::uint32_t>(m.bytes - m.done, ctx.mulpdu - header);
}

std::uint32_t RdmapSegmenter::first_ulpdu_bytes(const QpContext& ctx, const abi::Wqe& w) const {
  Message m;
  m.opcode = opcode_of(w);
  m.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(payload_of(w), 0xffffffffu));
  return ulpdu_bytes(ctx, m);
}

bool RdmapSegmenter::has_credit(const QpContext& ctx, const QpTx& q, std::uint32_t ulpdu) const {
  const std::size_t fpdu =
      contexts_.flow(ctx.flow).tx_markers ? wire::marked_fpdu_bytes(q.position, ulpdu) : wire::fpdu_bytes(ulpdu);
  return q.credit >= fpdu;
}

bool RdmapSegmenter::may_start(const QpContext& ctx, const QpTx& q, const abi::Wqe& w) const {
  if ((w.flags & abi::kWqeFence) && q.reads != 0) return false;
  return w.opcode != abi::WrOpcode::kRdmaRead || q.reads < ctx.ord || ctx.ord == 0;  // ORD 0 fails in check()
}

// What this QP could send now, credit and rules considered.
RdmapSegmenter::Source RdmapSegmenter::next(Qpn qpn, const QpTx& q) const {
  const QpContext& ctx = contexts_.qp(qpn);
  if (!ctx.valid || ctx.state != QpState::kRts || q.halted || (ctx.responder && !q.unfenced)) return Source::kNone;
  const bool response = q.response.active && has_credit(ctx, q, ulpdu_bytes(ctx, q.response));
  bool request = false;
  if (q.request.active) {
    request = has_credit(ctx, q, ulpdu_bytes(ctx, q.request));
  } else if (!q.rtr.empty()) {
    request = has_credit(ctx, q, header_bytes(Opcode::kReadRequest));  // the longest of the three
  } else if (!q.wqes.empty()) {
    const abi::Wqe& w = wqe_pool_.front(q.wqes).wqe;
    request = may_start(ctx, q, w) && has_credit(ctx, q, first_ulpdu_bytes(ctx, w));
  }
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
    const Qpn qpn = contexts_.flow(c.flow).qpn;
    qp(qpn).credit += c.bytes;
    list(qpn);
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
  if (rtr->can_pop()) {
    const RtrRequest r = rtr->pop();
    rtr_pool_.push(qp(r.qpn).rtr, r.kind);
    list(r.qpn);
    busy = true;
  }
  return busy;
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
  if (payload_of(w) > 0xffffffffu) return abi::WcStatus::kLocLenErr;
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
  const abi::Wqe& w = wqe_pool_.front(q.wqes).wqe;
  issued->push({qpn, w.wr_id, 0, w.opcode, status, true});
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
  q.halted = true;
  wqe_pool_.pop(q.wqes);
  taken->push({qpn});
}

void RdmapSegmenter::start_request(Qpn qpn, QpTx& q) {
  const FetchedWqe& f = wqe_pool_.front(q.wqes);
  const QpContext& ctx = contexts_.qp(qpn);
  if (const abi::WcStatus status = check(ctx, f); status != abi::WcStatus::kSuccess) return fail(qpn, q, status);
  Message& m = q.request;
  m = {};
  m.opcode = opcode_of(f.wqe);
  m.active = true;
  m.completes = m.opcode != Opcode::kReadRequest;
  m.bytes = static_cast<std::uint32_t>(payload_of(f.wqe));
  m.stag = wire::is_tagged(m.opcode) ? f.wqe.rkey : wire::invalidates(m.opcode) ? f.wqe.invalidate_stag : 0;
  m.address = f.wqe.remote_address;
  if (m.opcode == Opcode::kReadRequest) {
    m.msn = q.msn_read++;
    ++q.reads;
  } else if (!wire::is_tagged(m.opcode)) {
    m.msn = q.msn_send++;
  }
}

// RFC 6581: zero length, absorbed by the peer, no work request behind it.
void RdmapSegmenter::start_rtr(Qpn qpn, QpTx& q) {
  const RtrRequest::Kind kind = rtr_pool_.pop(q.rtr);
  Message& m = q.request;
  m = {};
  m.active = true;
  m.opcode = kind == RtrRequest::Kind::kSend    ? Opcode::kSend
             : kind == RtrRequest::Kind::kWrite ? Opcode::kWrite
                                                : Opcode::kReadRequest;
  if (kind == RtrRequest::Kind::kSend) m.msn = q.msn_send++;
  if (kind == RtrRequest::Kind::kRead) {
    m.msn = q.msn_read++;
    ++q.reads;
    issued->push({qpn, 0, 0, abi::WrOpcode::kRdmaRead, abi::WcStatus::kSuccess, false, true});
  }
}

// Writes the headers of the message's next segment and says where its payload is. w is null for a Read Response and
// for a ready-to-receive message.
void RdmapSegmenter::cut_segment(Qpn qpn, QpTx& q, Message& m, const abi::Wqe* w) {
  const QpContext& ctx = contexts_.qp(qpn);
  UlpduJob job;
  job.qpn = qpn;
  job.header_bytes = static_cast<std::uint16_t>(header_bytes(m.opcode));
  job.ulpdu.buf = buffers_.take();
  job.ulpdu.flow = ctx.flow;
  job.ulpdu.bytes = static_cast<std::uint16_t>(ulpdu_bytes(ctx, m));
  const std::uint32_t payload = job.ulpdu.bytes - job.header_bytes;
  const bool last = m.opcode == Opcode::kReadRequest || m.done + payload == m.bytes;
  const MutableByteSpan at(job.ulpdu.buf->bytes() + Ulpdu::kOffset, job.ulpdu.bytes);
  const std::uint8_t control = wire::DdpControl::pack(wire::is_tagged(m.opcode), last, ctx.version);
  const std::uint8_t rdmap = wire::RdmapControl::pack(m.opcode, ctx.version);
  if (wire::is_tagged(m.opcode)) {
    wire::DdpTaggedHeader{control, rdmap, m.stag, m.address + m.done}.emit(at);
  } else {
    const std::uint32_t qn = wire::queue_number(m.opcode);
    wire::DdpUntaggedHeader{control, rdmap, m.stag, qn, m.msn, m.done}.emit(at);
  }
  if (m.opcode == Opcode::kReadRequest) {
    wire::ReadRequest r;
    if (w != nullptr) {
      r = {w->num_sge ? w->sge[0].lkey : 0, w->num_sge ? w->sge[0].address : 0, m.bytes, w->rkey, w->remote_address};
    }
    r.emit(at.subspan(wire::DdpUntaggedHeader::kBytes));
  } else if (&m == &q.response) {
    if (payload != 0) job.piece[job.pieces++] = {q.response_source + m.done, payload};
  } else if (w != nullptr && (w->flags & abi::kWqeInline)) {
    std::memcpy(at.data() + job.header_bytes, reinterpret_cast<const std::uint8_t*>(w) + kInlineOffset + m.done,
                payload);
  } else {
    for (std::uint32_t rest = payload; rest != 0;) {
      const abi::Sge& s = w->sge[m.sge];
      const std::uint32_t take = std::min(rest, s.length - m.sge_done);
      if (take != 0) job.piece[job.pieces++] = {s.address + m.sge_done, take};
      rest -= take;
      m.sge_done += take;
      if (m.sge_done == s.length) ++m.sge, m.sge_done = 0;
    }
  }
  job.ulpdu.completes_wqe = last && m.completes;
  const std::size_t fpdu = contexts_.flow(ctx.flow).tx_markers ? wire::marked_fpdu_bytes(q.position, job.ulpdu.bytes)
                                                               : wire::fpdu_bytes(job.ulpdu.bytes);
  q.credit -= std::min<std::uint64_t>(q.credit, fpdu);
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
    case Source::kResponse:
      cut_segment(qpn, q, q.response, nullptr);
      if (!q.response.active) read_sent->push({qpn});
      q.response_turn = false;
      break;
    case Source::kRequest: {
      q.response_turn = true;
      if (!q.request.active && !q.rtr.empty()) {
        start_rtr(qpn, q);
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
}

}  // namespace rnic
