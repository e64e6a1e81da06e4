#include "model/rnic/rx/early_placement.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"
#include "model/rnic/rx/fpdu_runs.h"
#include "model/rnic/rx/tagged_check.h"

namespace rnic {

using wire::Opcode;

// ---- Reads that may be answered

EarlyPlacement::Reads& EarlyPlacement::reads(Qpn qpn) {
  Reads& r = reads_[qpn.v];
  if (const std::uint32_t epoch = contexts_.epoch(qpn); r.epoch != epoch) {
    reads_pool_.clear(r.outstanding);
    r.epoch = epoch;
  }
  return r;
}

bool EarlyPlacement::learn() {
  bool busy = false;
  if (read_over->can_pop()) {
    const ReadDone over = read_over->pop();
    Reads& r = reads(over.qpn);
    if (r.epoch == over.epoch && !r.outstanding.empty()) reads_pool_.pop(r.outstanding);
    busy = true;
  }
  if (read_issued->can_pop()) {
    const ReadIssued issued = read_issued->pop();
    Reads& r = reads(issued.qpn);
    if (r.epoch == issued.epoch) reads_pool_.push(r.outstanding, issued);
    busy = true;
  }
  return busy;
}

// How far the Read has come is unknown: what answers it may be anywhere after the hole.
bool EarlyPlacement::asked_for(Qpn qpn, const wire::DdpTaggedView& v) {
  const wire::DdpTaggedHeader& h = v.header;
  const std::size_t bytes = v.payload.size();
  return reads_pool_.any(reads(qpn).outstanding, [&](const ReadIssued& r) {
    return r.sink_stag == h.stag && h.to >= r.sink_to && bytes <= r.bytes && h.to - r.sink_to <= r.bytes - bytes;
  });
}

// ---- Segments

// One beat per cycle, of one segment while the one before it is processed. A segment is taken completely before one of
// another input begins; those of the first input go first.
bool EarlyPlacement::collect() {
  if (incoming_.checked_at != kNever && !segment_) {
    segment_ = std::move(incoming_);
    incoming_ = Segment{};
  }
  if (incoming_.checked_at != kNever) return false;
  if (incoming_.bytes != 0) return collect(incoming_.llp);
  return collect(LlpId::kMpaTcp) || collect(LlpId::kSctp);
}

// It counts as in progress from its first beat on.
bool EarlyPlacement::collect(LlpId llp) {
  if (!in[llp]->can_pop()) return false;
  const StreamBeat beat = in[llp]->pop();
  if (beat.first) {
    contexts_.in_flight.begin(StagWrites::kEarly);
    incoming_ = {{}, beat.data, beat.offset, 0, beat.flow, beat.facts(), llp, kNever};
    ++counters_.segments;
  }
  incoming_.bytes += beat.bytes;
  if (beat.last) {
    incoming_.buf = BufferRef::adopt(beat.buf);
    incoming_.checked_at = now() + (incoming_.bytes + beat_bytes_ - 1) / beat_bytes_ + kCheckCycles;
  }
  return true;
}

void EarlyPlacement::begin() {
  searched_ = true;
  next_ = 0;
  stream_ = {segment_->facts.markers, segment_->facts.crc, llps_[segment_->llp].keeps_messages};
  const bool found =
      search_.search({segment_->data, segment_->bytes}, static_cast<wire::StreamPosition>(segment_->offset), stream_);
  counters_.not_located += !found;
}

// One FPDU, or one write, per cycle; after the last one the segment's end.
bool EarlyPlacement::work() {
  if (job_) return write();
  if (asked_) return judge();
  if (!segment_ || now() < segment_->checked_at || answers_.size() >= kUnderWay) return false;
  if (!searched_) begin();
  if (next_ != search_.found().size()) {
    if (!sink.can_ask() || !row_.can_ask()) return false;
    take(search_.found()[next_++]);
    return true;
  }
  EarlyPlaced end;
  end.flow = segment_->flow;
  end.offset = segment_->offset;
  end.last = true;
  answers_.push({std::move(end), false, segment_->llp});
  segment_.reset();
  searched_ = false;
  return true;
}

std::optional<wire::DdpTaggedView> EarlyPlacement::tagged_view(const Plain& plain) {
  return wire::DdpTaggedView::parse({plain.data + wire::kUlpduLengthBytes, load_be16(plain.data)});
}

// Whatever is wrong with it, the in-order path will find it.
void EarlyPlacement::take(const FpduSearch::Found& fpdu) {
  if (!fpdu.intact) {
    ++counters_.bad_crc;
    return;
  }
  const Qpn qpn = segment_->facts.qpn;
  if (!contexts_.has(qpn) || fpdu.bytes > pool_.block_bytes()) {
    ++counters_.invalid;
    return;
  }
  Plain plain = without_markers(fpdu);
  const auto v = tagged_view(plain);
  if (!v || v->payload.empty()) {
    ++counters_.untagged;
    return;
  }
  sink.ask(Stag{v->header.stag});
  row_.ask(qpn.v);
  asked_.emplace(Asked{fpdu, std::move(plain)});
}

// When the entry of its STag and the row of its queue pair are there.
bool EarlyPlacement::judge() {
  if (!sink.ready() || !row_.can_use()) return false;
  const FpduSearch::Found fpdu = asked_->fpdu;
  Plain plain = std::move(asked_->plain);
  const auto v = tagged_view(plain);
  Job job;
  const bool valid = find_buffer(*v, job.piece);
  sink.drop();
  row_.drop();
  asked_.reset();
  if (!valid) {
    ++counters_.invalid;
    return true;
  }
  job.told = {segment_->flow, segment_->offset + fpdu.at, fpdu.bytes, headers_.take_like(segment_->buf.get()), false};
  std::memcpy(job.told.header->bytes(), plain.data, kPlacedHeaderBytes);
  job.offset = static_cast<std::uint32_t>(v->payload.data() - plain.buf->bytes());
  job.buf = std::move(plain.buf);
  job_ = std::move(job);
  return true;
}

EarlyPlacement::Plain EarlyPlacement::without_markers(const FpduSearch::Found& fpdu) {
  const std::uint8_t* const octets = segment_->data + fpdu.at;
  const auto start = static_cast<wire::StreamPosition>(segment_->offset + fpdu.at);
  if (stream_.message || !stream_.markers || wire::octets_to_marker(start) >= fpdu.bytes)
    return {segment_->buf, octets};
  BufferRef copy = pool_.take_like(segment_->buf.get());
  std::uint8_t* to = copy->bytes();
  take_apart(
      octets, fpdu.bytes, start,
      [&](const std::uint8_t* run, std::size_t count) {
        std::memcpy(to, run, count);
        to += count;
      },
      [](const std::uint8_t*, bool) {});
  const std::uint8_t* const data = copy->bytes();
  return {std::move(copy), data};
}

bool EarlyPlacement::find_buffer(const wire::DdpTaggedView& v, MemoryPiece& piece) {
  if (!row_.ok()) return false;
  const RxContext& qp = row_.row().qp;
  const Qpn qpn{row_.front().index};
  const bool carried = qp.flow == segment_->flow && life_of(qp.epoch) == segment_->facts.life;
  if (!carried || !qp.takes_segments() || check_tagged_header(qp.version, v.header)) return false;
  const bool response = wire::RdmapControl::opcode(v.header.rdmap) == Opcode::kReadResponse;
  if (response && !asked_for(qpn, v)) return false;
  const auto bytes = static_cast<std::uint32_t>(v.payload.size());
  return !check_tagged_buffer(sink.named(), qp.user(qpn), v.header, bytes, piece);
}

bool EarlyPlacement::write() {
  if (!dma->can_push()) return false;
  const MemoryPiece& m = job_->piece;
  dma->push({m.address, m.bytes, std::move(job_->buf), job_->offset, 0, true, m.list});
  counters_.payload_bytes += m.bytes;
  ++counters_.fpdus;
  answers_.push({std::move(job_->told), true, segment_->llp});
  job_.reset();
  return true;
}

// In stream order; for an FPDU when the last of its writes can no longer be overtaken. One whose page is lost was not
// placed: the in-order path will find the same.
bool EarlyPlacement::tell() {
  if (answers_.empty()) return false;
  Link<EarlyPlaced>& to = *out[answers_.front().llp];
  if (!to.can_push()) return false;
  if (answers_.front().awaits_write) {
    if (!written->can_pop()) return false;
    if (!written->pop().ok) return answers_.drop(), true;
  }
  EarlyPlaced told = answers_.pop().told;
  if (told.last) contexts_.in_flight.end(StagWrites::kEarly);
  to.push(std::move(told));
  return true;
}

void EarlyPlacement::reset() {
  reads_.assign(reads_.size(), {});
  reads_pool_.reset();
  incoming_ = {};
  segment_.reset();
  searched_ = false;
  next_ = 0;
  asked_.reset();
  sink.reset();
  job_.reset();
  answers_ = {};
}

Wake EarlyPlacement::tick() {
  bool busy = learn();
  busy |= tell();
  busy |= work();
  busy |= collect();
  if (busy || (incoming_.checked_at != kNever && !segment_)) return Wake::next_cycle();
  return segment_ && segment_->checked_at > now() ? Wake::at_cycle(segment_->checked_at) : Wake::on_traffic();
}

std::string EarlyPlacement::waiting_for() const {
  if (job_) return "DMA write for flow " + std::to_string(job_->told.flow.v);
  return answers_.empty() ? "" : "the end of writes for flow " + std::to_string(answers_.front().told.flow.v);
}

void EarlyPlacement::describe(const Description& d) {
  d.counters(counters_);
  d.series("rx.payload", 130, counters_, &EarlyPlacementCounters::payload_bytes);
  reads_pool_.describe(d);
}

}  // namespace rnic
