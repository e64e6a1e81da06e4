#include "model/rnic/rx/ddp_placement.h"

#include <algorithm>

#include "model/common/description.h"
#include "model/rnic/rx/tagged_check.h"
#include "model/wire/fpdu.h"

namespace rnic {

template class Collects<FpduBeat, PlacementIn>;

using wire::Opcode;
using Cause = std::optional<wire::TerminateCause>;

void PlacementIn::begin(const FpduBeat& first) {
  fpdu = first.data;
  flow = first.flow;
  ends = first.ends();
}

// The stage is called in the cycle of the beat that completes the header, also if that is still to come.
void PlacementIn::on_run(const FpduBeat& first, unsigned beats) {
  if (first.first) {
    begin(first);
    const std::size_t octets = wire::kUlpduLengthBytes + wire::ddp_header_bytes(fpdu[wire::kUlpduLengthBytes]);
    const unsigned beat_bytes = 4u * first.words;
    header_beats_ = (static_cast<unsigned>(octets) + beat_bytes - 1) / beat_bytes;
  }
  if (header_beats_ == 0) return;
  if (beats >= header_beats_) {
    header_at_ = beat_at() + header_beats_ - 1;
    if (header_at_ > owner().clock().now()) owner().wake(header_at_);
  }
  header_beats_ -= std::min(beats, header_beats_);
}

bool PlacementIn::has_header() {
  const Cycle now = owner().clock().now();
  if (beat_at() > now) return header_at_ <= now;
  if ((*this)->front().first) begin((*this)->front());
  return true;
}

DdpPlacement::DdpPlacement(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts,
                           const PerLlp<LlpTraits>& llps)
    : Stage(nm, clk), contexts_(contexts), llps_(llps), requests_(contexts), qps_(contexts.qps()) {
  for (SegmentStags& s : stags) s.bind_to(contexts.stag_table);
}

// The QP's state, reset if the QP number was reused.
DdpPlacement::QpRx& DdpPlacement::qp(Qpn qpn) {
  QpRx& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    reads_pool_.clear(q.reads);
    q = QpRx{};
    q.epoch = epoch;
    const std::uint32_t first = contexts_.qp(qpn).first_msn;
    q.msn = {first, first, 1, first};
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
  if (read_issued->can_pop()) {
    const ReadIssued r = read_issued->pop();
    reads_pool_.push(qp(r.qpn).reads, r);
    busy = true;
  }
  if (answered->can_pop()) {
    QpRx& q = qp(answered->pop().qpn);
    if (q.requests != 0) --q.requests;
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

// The firmware ends the stream; one that does not exist yet ends with its first message, at the latest.
void DdpPlacement::overrun(Qpn qpn) {
  QpRx& q = qp(qpn);
  if (q.stopped) return;
  q.stopped = contexts_.qp(qpn).state == QpState::kRts;
  ++counters_.errors;
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
}

// One receive request per cycle completes unused.
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

// The fate of the rings' requests, one of each kind per cycle.
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

// Tagged placement. If early_placement has written a segment, only its header is here, and nothing is written again.
Cause DdpPlacement::tagged(const QpContext& ctx, QpRx& q, ByteSpan ulpdu, bool placed) {
  const auto v = wire::DdpTaggedView::parse(ulpdu);
  if (!v) return wire::rdma::kUnexpectedOpcode;  // shorter than its header
  if (const Cause cause = check_tagged_header(ctx, v->header)) return cause;
  const Opcode op = wire::RdmapControl::opcode(v->header.rdmap);
  if (op == Opcode::kReadResponse) {
    if (const Cause cause = read_response(q, *v)) return cause;
  }
  const auto bytes = static_cast<std::uint32_t>(v->payload.size());
  if (bytes != 0) {
    MemoryPiece& piece = job_->piece[0];
    if (awaits_stags()) return {};
    const StagContext* const named = stags_of(*from_).named.named();
    if (const Cause cause = check_tagged_buffer(named, job_->segment.qpn, ctx, v->header, bytes, piece)) return cause;
    job_->pieces = placed ? 0 : 1;
  }
  job_->offset += wire::DdpTaggedHeader::kBytes;
  q.tagged_bytes += bytes;
  job_->segment.opcode = op;
  job_->segment.octets = static_cast<std::uint16_t>(bytes);
  job_->segment.last = v->header.last();
  if (v->header.last()) job_->segment.bytes = std::exchange(q.tagged_bytes, 0u);
  if (op == Opcode::kReadResponse) take_read_response(q, bytes, v->header.last());
  return {};
}

// It must be the next part of what the oldest outstanding Read requested (RFC 5040 section 5.2.2). Without payload it
// names nothing.
Cause DdpPlacement::read_response(const QpRx& q, const wire::DdpTaggedView& v) const {
  if (q.reads.empty()) return wire::rdma::kUnexpectedOpcode;
  const ReadIssued& r = reads_pool_.front(q.reads);
  const std::size_t bytes = v.payload.size();
  if (bytes != 0 && v.header.stag != r.sink_stag) return wire::ddp::kInvalidStag;
  if (bytes != 0 && v.header.to != r.sink_to + q.read_bytes) return wire::ddp::kBaseOrBounds;
  const std::size_t left = r.bytes - q.read_bytes;
  if (bytes > left || v.header.last() != (bytes == left)) return wire::ddp::kBaseOrBounds;
  return {};
}

void DdpPlacement::take_read_response(QpRx& q, std::uint32_t bytes, bool last) {
  q.read_bytes = last ? 0 : q.read_bytes + bytes;
  if (last) reads_pool_.pop(q.reads);
}

void DdpPlacement::stop(Qpn qpn, QpRx& q, wire::TerminateCause cause, ByteSpan ulpdu) {
  q.stopped = true;
  ++counters_.errors;
  event->push({QpEvent::Kind::kStreamError, qpn, cause, FailedSegment::of(ulpdu, (*from_)->front().buf->owner())});
}

// Whether rows are missing: without an error but with waits_ set, the segment is judged again in the next cycle.
bool DdpPlacement::awaits_stags() {
  if (stags_of(*from_).there()) return false;
  waits_ = Wait::kStags;
  return true;
}

// Called with the complete FPDU; fills job_ and leaves it empty unless the answer is kPlace. A segment that has to wait
// has changed nothing, but for the receive request that is its own from then on.
DdpPlacement::Verdict DdpPlacement::judge(const FpduBeat& last) {
  waits_ = Wait::kNone;
  if (last.ends()) return end(last);
  const std::optional<Qpn> carried = contexts_.qp_of(last.flow);
  if (!carried) return Verdict::kDrop;
  const Qpn qpn = *carried;
  QpRx& q = qp(qpn);
  const QpContext& ctx = contexts_.qp(qpn);
  if (q.stopped || !takes_segments(ctx)) return Verdict::kDrop;
  // Others check their packets and keep the end of a stream in order themselves, and there are no error codes for them.
  const bool whole = last.crc_ok && last.marker_ok && !q.ended;
  RNIC_CHECK_MSG(whole || llps_[llp_of(*from_)].reports_errors, "a segment that its lower layer must not hand up");
  if (q.ended) {  // cannot be on TCP (RFC 5041 section 6.2)
    stop(qpn, q, wire::mpa::kConnectionLost, {});
    return Verdict::kDrop;
  }
  if (!last.crc_ok || !last.marker_ok) {
    stop(qpn, q, last.crc_ok ? wire::mpa::kMarkerMismatch : wire::mpa::kCrcMismatch, {});
    return Verdict::kDrop;
  }
  const ByteSpan ulpdu(from_->fpdu + wire::kUlpduLengthBytes, load_be16(from_->fpdu));
  job_.emplace();
  job_->segment.qpn = qpn;
  job_->segment.owner = last.buf->owner();
  job_->offset = static_cast<std::uint32_t>(ulpdu.data() - last.buf->bytes());
  const bool is_tagged = !ulpdu.empty() && wire::DdpControl::tagged(ulpdu[0]);
  RNIC_CHECK(is_tagged || !last.placed());
  const Cause cause = is_tagged ? tagged(ctx, q, ulpdu, last.placed()) : untagged(ctx, q, ulpdu);
  if (!cause && waits_ == Wait::kNone) {
    q.begun = true;
    if (job_->pieces != 0) contexts_.in_flight.begin(StagWrites::kPlacement);
    return Verdict::kPlace;
  }
  job_.reset();
  if (waits_ != Wait::kNone) return Verdict::kWait;
  stop(qpn, q, *cause, ulpdu);
  return Verdict::kDrop;
}

// The peer's FIN or session Terminate is passed on in any case, after everything that came before it. A FIN in the
// middle of an FPDU is an error (RFC 5044 section 8, error 1). Of an RST the firmware hears from TCP, once it has
// passed.
DdpPlacement::Verdict DdpPlacement::end(const FpduBeat& end) {
  job_.emplace();
  PlacedSegment& s = job_->segment;
  s.ended = true;
  s.flow = end.flow;
  s.llp = llp_of(*from_);
  RNIC_CHECK(end.marker_ok || llps_[s.llp].reports_errors);
  const std::optional<Qpn> carried = contexts_.qp_of(end.flow);
  if (!carried) return Verdict::kPlace;
  QpRx& q = qp(*carried);
  if (q.stopped || !takes_segments(contexts_.qp(*carried))) return Verdict::kPlace;
  s.qpn = *carried;
  if (end.resets()) return Verdict::kPlace;
  s.in_order = q.ended = end.marker_ok;
  if (!s.in_order) stop(*carried, q, wire::mpa::kConnectionLost, {});
  return Verdict::kPlace;
}

// One beat per cycle from each input; those before an FPDU's last one are never refused. So the other input cannot
// affect them, and both can run ahead.
void DdpPlacement::collect(Cycle until) {
#pragma GCC unroll 2  // the loop itself costs a fifth more instructions
  for (PlacementIn& input : in) {
    if (!input->empty()) input.collect(until);
  }
}

// Which rows the segments that come in will need, as far as that is known when their headers are here.
void DdpPlacement::look_ahead() {
  for (PlacementIn& input : in) {
    SegmentStags& needs = stags_of(input);
    needs.take_rows();
    if (needs.begun() || !input.has_header()) continue;
    needs.begin();
    if (!input.ends) look_ahead(input, needs);
  }
}

// Whatever is wrong with the segment, it is found when it is judged.
void DdpPlacement::look_ahead(const PlacementIn& input, SegmentStags& needs) {
  const ByteSpan ulpdu(input.fpdu + wire::kUlpduLengthBytes, load_be16(input.fpdu));
  if (const auto v = wire::DdpTaggedView::parse(ulpdu)) {
    if (!v->payload.empty()) needs.name(Stag{v->header.stag});
    return;
  }
  if (const auto v = wire::DdpUntaggedView::parse(ulpdu)) look_ahead(input.flow, *v, needs);
}

// The input whose last beat is judged in this cycle: they take turns after the one that was judged last. One that waits
// keeps its turn.
PlacementIn* DdpPlacement::turn() {
  if (waits_ != Wait::kNone) return from_->beat_at() <= now() ? from_ : nullptr;
  PlacementIn* input = from_;
  for (unsigned i = 0; i < kLlps; ++i) {
    if (++input == in.end()) input = in.begin();
    if (input->beat_at() <= now()) return input;
  }
  return nullptr;
}

// The last one waits until the segment before it is on its way.
bool DdpPlacement::take_last() {
  if (job_ || !event->can_push()) return false;
  PlacementIn* const next = turn();
  if (next == nullptr) return false;
  from_ = next;
  const Verdict verdict = judge((*next)->front());
  if (verdict == Verdict::kWait) {
    contexts_.wake_at_change(*this);  // its context may end the wait as well as what it waits for
    return false;
  }
  stags_of(*next).end();
  const FpduBeat beat = next->take_last();
  BufferRef buf = BufferRef::adopt(beat.buf);
  if (verdict == Verdict::kDrop) drop(buf->owner());
  if (verdict == Verdict::kPlace) job_->buf = std::move(buf);
  return true;
}

bool DdpPlacement::ask() {
  bool more = false;
  for (SegmentStags& needs : stags) more |= needs.ask();
  return more;
}

bool DdpPlacement::write() {
  if (!job_) return false;
  PlacementJob& j = *job_;
  if (j.written < j.pieces) {
    if (!dma->can_push()) return false;
    const MemoryPiece& m = j.piece[j.written++];
    const bool notify = j.written == j.pieces;
    dma->push({m.address, m.bytes, j.buf, j.offset, 0, notify, m.list});
    j.offset += m.bytes;
    counters_.payload_bytes += m.bytes;
    j.segment.awaits_write = true;
    if (j.written < j.pieces) return true;
  }
  if (!out->can_push()) return false;
  out->push(j.segment);
  count(j.segment);
  job_.reset();
  return true;
}

void DdpPlacement::reset() {
  requests_.reset();
  qps_.assign(qps_.size(), {});
  reads_pool_ = {};
  job_.reset();
  for (PlacementIn& input : in) input.reset();
  for (SegmentStags& needs : stags) needs.reset();
  from_ = in.end() - 1;
  waits_ = Wait::kNone;
  request_waits_.set(now(), 0, false);
}

Wake DdpPlacement::tick() {
  bool busy = accept();
  busy |= write() || flush_one();  // both pass one segment to the dispatcher
  collect(now());
  look_ahead();
  busy |= take_last();
  busy |= ask();
  busy |= tell();
  const bool waits = waits_ == Wait::kRequest;
  request_waits_.set(now(), waits, waits);
  collect(horizon());
  if (busy) return Wake::next_cycle();
  return next_beat();
}

// A stage that is already registered waits for something else.
Wake DdpPlacement::next_beat() const {
  Wake wake = Wake::on_traffic();
  for (const PlacementIn& input : in) {
    if (input.beat_at() > now()) wake.at = std::min(wake.at, input.beat_at());
  }
  return wake;
}

std::string DdpPlacement::waiting_for() const {
  if (job_) return "DMA write of QP " + std::to_string(job_->segment.qpn.v);
  if (waits_ == Wait::kStags) return "the STags of a segment";
  return waits_ == Wait::kRequest ? "a receive request that is being fetched" : "";
}

void DdpPlacement::describe(const Description& d) {
  d.counters(counters_);
  d.series("rx.payload", 130, counters_, &DdpPlacementCounters::payload_bytes);
  d.account({"rx.rqe_waits", "slots", Reach::kFetch, "RQE prefetch", 40, {}, true}, request_waits_);
  d.drops(drops);
}

}  // namespace rnic
