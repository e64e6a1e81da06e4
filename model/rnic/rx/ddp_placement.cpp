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
  qpn = first.qpn;
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

DdpPlacement::DdpPlacement(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts,
                           const PerLlp<LlpTraits>& llps, const DdpPlacementConfig& config)
    : Stage(nm, clk),
      contexts_(contexts),
      llps_(llps),
      cfg_(config),
      requests_(contexts, QpElements::entries(contexts.receive_queues(), contexts.elements().rqes,
                                              contexts.elements().shared_rqes)),
      reads_({"reads", contexts.qps() * contexts.elements().ord + 1,
              "queue pairs x fwcpu.max_ord + 1: the first of a number's next use comes before the others are dropped",
              contexts.rx_table.cached() ? PoolLimit::kHome : PoolLimit::kChip}),
      one_port_(contexts.rx_table.config().read_ports == 1),
      lost_(contexts.rx_table.cached() ? contexts.qps() : 0),
      parked_account_(config.parked * kLlps) {
  contexts.rx_table.owned_by(*this);
  for (SegmentStags& s : stags) s.bind_to(contexts.stag_table);
  for (SegmentQp& q : qps) q.bind_to(contexts.rx_table);
  events.bind_to(contexts.rx_table);
}

// One of what is about queue pairs a cycle, as each needs a row: of what the segmenter cuts in a cycle there is one, a
// Read or a response.
bool DdpPlacement::accept() {
  bool busy = take_doorbell();
  if (overrun_ && events.can_take()) {
    take(*overrun_);
    overrun_.reset();
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
  return accept(flush) || accept(answered) || accept(read_issued) || busy;
}

// An overrun is one of them. The next doorbells wait until the firmware has it, but not for rows that are fetched.
bool DdpPlacement::take_doorbell() {
  if (overruns_ || to_report_ || !posted->can_pop()) return false;
  const RqDoorbell d = posted->pop();
  overruns_ = !requests_.announce(d) && !d.rqn.shared;
  if (overruns_) overrun_ = RqOverrun{Qpn{d.rqn.v}, contexts_.epoch(Qpn{d.rqn.v})};
  return true;
}

template <class Port>
bool DdpPlacement::accept(Port& port) {
  if (!port->can_pop() || !events.can_take()) return false;
  take(port->pop());
  return true;
}

template <class Event>
void DdpPlacement::take(const Event& event_of_qp) {
  events.take(event_of_qp.qpn, event_of_qp.epoch, event_of_qp);
}

bool DdpPlacement::report() {
  if (!to_report_ || !event->can_push()) return false;
  event->push({QpEvent::Kind::kLocalError, *to_report_, wire::rdma::kLocalCatastrophic});
  ++counters_.errors;
  to_report_.reset();
  return true;
}

// One event a cycle. None waits for anything but its row.
bool DdpPlacement::execute() {
  executed_.reset();
  if (!events.ready()) return false;
  if (!events.ok()) {
    execute_lost();
    events.drop();
    return true;
  }
  executed_ = events.id();
  if (const RxRow& row = events.row(); row.qp.epoch == events.epoch()) {
    QpRx q = row.current();
    std::visit([&](const auto& event_of_qp) { execute(q, row.qp, event_of_qp); }, events.front());
    keep(events.id(), q);
  } else if (std::holds_alternative<RqOverrun>(events.front())) {
    overruns_ = false;
  }
  events.drop();
  return true;
}

// Of a queue pair whose row is lost only its receive requests are still to be given back.
void DdpPlacement::execute_lost() {
  const bool overrun = std::holds_alternative<RqOverrun>(events.front());
  overruns_ &= !overrun;
  if (events.epoch() != contexts_.epoch(events.id())) return;
  if (const auto* const f = std::get_if<RqFlush>(&events.front())) requests_.end(f->qpn, f->recv_cq);
  if (overrun) to_report_ = events.id();
}

void DdpPlacement::execute(QpRx& q, const RxContext&, const RqFlush& f) {
  requests_.end(f.qpn, f.recv_cq);
  q.stop();
}

// The firmware ends the stream; one that does not exist yet ends with its first message, at the latest.
void DdpPlacement::execute(QpRx& q, const RxContext& ctx, const RqOverrun& o) {
  overruns_ = false;
  if (q.stopped()) return;
  if (ctx.state == QpState::kRts) q.stop();
  to_report_ = o.qpn;
}

// Of an earlier use of the number nothing is left.
void DdpPlacement::keep(Qpn qpn, const QpRx& q) {
  QpRx& state = contexts_.rx_table.own(qpn.v, &RxRow::state);
  if (state.epoch != q.epoch) reads_.clear(state.reads);
  state = q;
}

// One receive request per cycle completes unused.
bool DdpPlacement::flush_one() {
  if (job_ || !requests_.has_unused() || !out->can_push()) return false;
  const auto unused = requests_.take_unused();
  if (!unused) return true;
  PlacedSegment s;
  s.qpn = unused->qpn;
  s.epoch = unused->epoch;
  s.flushed = true;
  s.wr_id = unused->wr_id;
  s.recv_cq = unused->recv_cq;
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
Cause DdpPlacement::tagged(const RxContext& ctx, QpRx& q, ByteSpan ulpdu, bool placed) {
  const auto v = wire::DdpTaggedView::parse(ulpdu);
  if (!v) return wire::rdma::kUnexpectedOpcode;  // shorter than its header
  if (const Cause cause = check_tagged_header(ctx.version, v->header)) return cause;
  const Opcode op = wire::RdmapControl::opcode(v->header.rdmap);
  if (op == Opcode::kReadResponse) {
    if (const Cause cause = read_response(q, *v)) return cause;
  }
  const auto bytes = static_cast<std::uint32_t>(v->payload.size());
  if (bytes != 0) {
    MemoryPiece& piece = job_->piece[0];
    if (awaits_stags()) return {};
    const StagContext* const named = stags_of(*from_).named.named();
    if (const Cause cause = check_tagged_buffer(named, ctx.user(job_->segment.qpn), v->header, bytes, piece))
      return cause;
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
  const ReadIssued& r = reads_.front(q.reads);
  const std::size_t bytes = v.payload.size();
  if (bytes != 0 && v.header.stag != r.sink_stag) return wire::ddp::kInvalidStag;
  if (bytes != 0 && v.header.to != r.sink_to + q.read_bytes) return wire::ddp::kBaseOrBounds;
  const std::size_t left = r.bytes - q.read_bytes;
  if (bytes > left || v.header.last() != (bytes == left)) return wire::ddp::kBaseOrBounds;
  return {};
}

void DdpPlacement::take_read_response(QpRx& q, std::uint32_t bytes, bool last) {
  q.read_bytes = last ? 0 : q.read_bytes + bytes;
  if (last) reads_.pop(q.reads);
}

void DdpPlacement::stop(Qpn qpn, QpRx& q, wire::TerminateCause cause, ByteSpan ulpdu, const FpduBeat& last) {
  refused_ = true;
  q.stop();
  ++counters_.errors;
  event->push({QpEvent::Kind::kStreamError, qpn, cause, FailedSegment::of(ulpdu, last.buf->owner())});
}

// The firmware hears once that a queue pair's row is lost.
void DdpPlacement::lose(Qpn qpn) {
  const QpLife life = contexts_.life(qpn);
  if (std::exchange(lost_.at(qpn.v), life.epoch) == life.epoch || !life.valid) return;
  event->push({QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic});
  ++counters_.errors;
}

// Whether an event about it has come. With a cache it may be that it has no place yet, as all wait for their rows.
bool DdpPlacement::has_event(Qpn qpn) {
  const auto comes = [qpn](auto& port) { return port->any([qpn](const auto& each) { return each.qpn == qpn; }); };
  if (contexts_.rx_table.cached() && (comes(flush) || comes(answered) || comes(read_issued))) return true;
  return events.about(qpn);
}

// Whether rows are missing: without an error but with waits_ set, the segment is judged again when one has come.
bool DdpPlacement::awaits_stags() {
  if (stags_of(*from_).there()) return false;
  waits_ = Wait::kRows;
  return true;
}

// Called with the complete FPDU; fills job_ and leaves it empty unless the answer is kPlace. A segment that has to wait
// has changed nothing, but for the receive request that is its own from then on. What happened to its queue pair before
// comes first.
DdpPlacement::Verdict DdpPlacement::judge(const WholeFpdu& fpdu) {
  const SegmentQp& of = qp_of(*from_);
  waits_ = of.there() && !has_event(of.qpn()) ? Wait::kNone : Wait::kRows;
  if (waits_ != Wait::kNone) return Verdict::kWait;
  if (!of.ok() && contexts_.has(of.qpn()) && fpdu.last.life == life_of(contexts_.epoch(of.qpn()))) lose(of.qpn());
  if (fpdu.last.ends()) return end(fpdu.last, of);
  refused_ = false;
  if (!is_of(of, fpdu.last) || !of.row().qp.takes_segments()) return Verdict::kDrop;
  QpRx q = of.row().current();
  if (q.stopped()) return Verdict::kDrop;
  const Verdict verdict = judge(fpdu, of.row().qp, q);
  if (verdict != Verdict::kWait) keep(of.qpn(), q);
  return verdict;
}

// Of a stream that goes on.
DdpPlacement::Verdict DdpPlacement::judge(const WholeFpdu& fpdu, const RxContext& ctx, QpRx& q) {
  const FpduBeat& last = fpdu.last;
  const Qpn qpn = qp_of(*from_).qpn();
  // Others check their packets and keep the end of a stream in order themselves, and there are no error codes for them.
  const bool whole = last.crc_ok && last.marker_ok && !q.ended();
  RNIC_CHECK_MSG(whole || llps_[llp_of(*from_)].reports_errors, "a segment that its lower layer must not hand up");
  if (q.ended()) {  // cannot be on TCP (RFC 5041 section 6.2)
    stop(qpn, q, wire::mpa::kConnectionLost, {}, last);
    return Verdict::kDrop;
  }
  if (!last.crc_ok || !last.marker_ok) {
    stop(qpn, q, last.crc_ok ? wire::mpa::kMarkerMismatch : wire::mpa::kCrcMismatch, {}, last);
    return Verdict::kDrop;
  }
  const ByteSpan ulpdu(fpdu.octets + wire::kUlpduLengthBytes, load_be16(fpdu.octets));
  job_.emplace();
  job_->segment.qpn = qpn;
  job_->segment.epoch = ctx.epoch;
  job_->segment.pd = ctx.pd;
  job_->segment.recv_cq = ctx.recv_cq;
  job_->segment.owner = last.buf->owner();
  job_->offset = static_cast<std::uint32_t>(ulpdu.data() - last.buf->bytes());
  const bool is_tagged = !ulpdu.empty() && wire::DdpControl::tagged(ulpdu[0]);
  RNIC_CHECK(is_tagged || !last.placed());
  const Cause cause = is_tagged ? tagged(ctx, q, ulpdu, last.placed()) : untagged(ctx, q, ulpdu);
  if (!cause && waits_ == Wait::kNone) {
    if (q.stream == RxStream::kNew) {
      q.stream = RxStream::kBegun;
      job_->segment.opens = true;
    }
    if (job_->pieces != 0) contexts_.in_flight.begin(StagWrites::kPlacement);
    return Verdict::kPlace;
  }
  job_.reset();
  if (waits_ != Wait::kNone) return Verdict::kWait;
  stop(qpn, q, *cause, ulpdu, last);
  return Verdict::kDrop;
}

// The peer's FIN or session Terminate is passed on in any case, after everything that came before it. A FIN in the
// middle of an FPDU is an error (RFC 5044 section 8, error 1). Of an RST the firmware hears from TCP, once it has
// passed.
DdpPlacement::Verdict DdpPlacement::end(const FpduBeat& end, const SegmentQp& of) {
  job_.emplace();
  PlacedSegment& s = job_->segment;
  s.ended = true;
  s.flow = end.flow;
  s.llp = llp_of(*from_);
  RNIC_CHECK(end.marker_ok || llps_[s.llp].reports_errors);
  if (!is_of(of, end) || !of.row().qp.takes_segments()) return Verdict::kPlace;
  QpRx q = of.row().current();
  if (q.stopped()) return Verdict::kPlace;
  s.qpn = of.qpn();
  s.epoch = q.epoch;
  if (end.resets()) return Verdict::kPlace;
  s.in_order = end.marker_ok;
  if (s.in_order) q.stream = RxStream::kEnded;
  else stop(s.qpn, q, wire::mpa::kConnectionLost, {}, end);
  keep(s.qpn, q);
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

// A segment that has arrived, but whose queue pair is fetched, makes room for the next one.
void DdpPlacement::park() {
  bool waits = false;
  unsigned parked = 0;
  for (PlacementIn& input : in) {
    SegmentQp& of = qp_of(input);
    if (input.beat_at() <= now() && of.parked() < cfg_.parked && of.is_missed()) {
      if (from_ == &input) waits_ = Wait::kNone;
      const std::uint8_t* const octets = input.fpdu;
      of.park({input.take_last(), octets});
      ++counters_.parked;
    }
    waits |= of.parked() == cfg_.parked && input.beat_at() <= now() && of.begun() && !of.there();
    parked += of.parked();
  }
  parked_account_.set(now(), parked, waits);
}

// Whether a segment that has arrived may have to be parked in the next cycle: it is known then whether its row is
// fetched.
bool DdpPlacement::may_park() {
  return std::any_of(in.begin(), in.end(), [this](const PlacementIn& input) {
    const SegmentQp& of = qp_of(input);
    const bool waits = input.beat_at() <= now() && of.begun() && !of.there();
    return waits && (of.parked() < cfg_.parked || !of.is_missed());
  });
}

// Which rows the segments that come in will need, as far as that is known when their headers are here. Whether more of
// them may come in the next cycle.
bool DdpPlacement::look_ahead() {
  bool more = false;
  for (PlacementIn& input : in) {
    more |= stags_of(input).take_rows();
    look_ahead(input);
  }
  return more;
}

void DdpPlacement::look_ahead(PlacementIn& input) {
  SegmentStags& needs = stags_of(input);
  SegmentQp& of = qp_of(input);
  if (!of.begun()) {
    if (input.has_header()) of.begin(input.qpn);
    else if (!of.has_parked()) return;
  }
  if (needs.begun() && !of.has_parked()) return;
  unsigned& place = looked_up_[static_cast<std::size_t>(llp_of(input))];
  if (needs.begun() && place != of.place()) needs.end();  // of one that is judged later
  if (needs.begun() || !(of.is_parked() || of.begun())) return;
  needs.begin();
  place = of.place();
  const bool ends = of.is_parked() ? of.fpdu().last.ends() : input.ends;
  if (!ends) look_ahead(of.is_parked() ? of.fpdu().octets : input.fpdu, of.qpn(), needs);
}

// Whatever is wrong with the segment, it is found when it is judged.
void DdpPlacement::look_ahead(const std::uint8_t* fpdu, Qpn qpn, SegmentStags& needs) {
  const ByteSpan ulpdu(fpdu + wire::kUlpduLengthBytes, load_be16(fpdu));
  if (const auto v = wire::DdpTaggedView::parse(ulpdu)) {
    if (!v->payload.empty()) needs.name(Stag{v->header.stag});
    return;
  }
  if (const auto v = wire::DdpUntaggedView::parse(ulpdu)) look_ahead(qpn, *v, needs);
}

// The input whose segment is judged in this cycle: they take turns after the one that was judged last. One that waits
// keeps its turn.
PlacementIn* DdpPlacement::turn() {
  if (waits_ != Wait::kNone) return can_judge(*from_) ? from_ : nullptr;
  PlacementIn* input = from_;
  for (unsigned i = 0; i < kLlps; ++i) {
    if (++input == in.end()) input = in.begin();
    if (can_judge(*input)) return input;
  }
  return nullptr;
}

WholeFpdu DdpPlacement::to_judge(PlacementIn& input) {
  const SegmentQp& of = qp_of(input);
  return of.is_parked() ? of.fpdu() : WholeFpdu{input->front(), input.fpdu};
}

// The last one waits until the segment before it is on its way.
bool DdpPlacement::take_last() {
  if (job_ || !event->can_push()) return false;
  PlacementIn* const next = turn();
  if (next == nullptr || (one_port_ && executed_ && *executed_ != qp_of(*next).qpn())) return false;
  from_ = next;
  const Verdict verdict = judge(to_judge(*next));
  if (verdict == Verdict::kWait) return false;  // its row, which may end the wait as well, stays
  stags_of(*next).end();
  BufferRef buf = take(*next);
  if (verdict == Verdict::kDrop) drop(buf->owner(), refused_);
  if (verdict == Verdict::kPlace) job_->buf = std::move(buf);
  return true;
}

BufferRef DdpPlacement::take(PlacementIn& input) {
  SegmentQp& of = qp_of(input);
  if (of.is_parked()) return of.end_parked();
  of.end();
  return BufferRef::adopt(input.take_last().buf);
}

bool DdpPlacement::ask() {
  bool more = false;
  for (SegmentQp& of : qps) of.ask();
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
  reads_.reset();
  events.reset();
  executed_.reset();
  overruns_ = false;
  overrun_.reset();
  to_report_.reset();
  job_.reset();
  for (PlacementIn& input : in) input.reset();
  for (SegmentStags& needs : stags) needs.reset();
  for (SegmentQp& of : qps) of.reset();
  from_ = in.end() - 1;
  waits_ = Wait::kNone;
  looked_up_ = {};
  lost_.assign(lost_.size(), 0);
  request_waits_.set(now(), 0, false);
  parked_account_.set(now(), 0, false);
}

Wake DdpPlacement::tick() {
  bool busy = accept();
  busy |= report();
  busy |= execute();
  busy |= write() || flush_one();  // both pass one segment to the dispatcher
  collect(now());
  const bool cached = contexts_.rx_table.cached();
  if (cached) park();
  busy |= look_ahead();
  busy |= take_last();
  busy |= ask();
  busy |= tell();
  busy |= cached && may_park();
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
  if (to_report_) return "the firmware to hear of an overrun of QP " + std::to_string(to_report_->v);
  if (waits_ == Wait::kRows) return "the queue pair and the STags of a segment";
  for (const SegmentQp& of : qps) {
    if (of.has_parked()) return "the queue pairs of " + std::to_string(of.parked()) + " parked segments";
  }
  return waits_ == Wait::kRequest ? "a receive request that is being fetched" : "";
}

void DdpPlacement::describe(const Description& d) {
  d.counters(counters_);
  d.series("rx.payload", 130, counters_, &DdpPlacementCounters::payload_bytes);
  d.account({"rx.parked", "slots", Reach::kTags, "parked FPDUs", 142}, parked_account_);
  d.account({"rx.rqe_waits", "slots", Reach::kFetch, "RQE prefetch", 40, {}, true}, request_waits_);
  d.drops(drops);
  d.point(stag_ends.point);
  requests_.describe(d);
  reads_.describe(d);
}

}  // namespace rnic
