#include "model/rnic/rx/mpa_deframer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "model/common/description.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/rx/fpdu_runs.h"

namespace rnic {
namespace {

// Another reference to a block whose own one travels with its beats.
BufferRef share(Buffer* buffer) {
  BufferRef travelling = BufferRef::adopt(buffer);
  BufferRef shared = travelling;
  travelling.release();
  return shared;
}

}  // namespace

void MpaDeframer::reset() {
  flows_.assign(flows_.size(), {});
  emit_from_ = ingest_from_ = 0;
  used_ = 0;
  fpdu_ = nullptr;
  queue_.assign(queue_.size(), {});
  head_ = queued_ = 0;
}

// Octets arrive while beats leave. The two sides wait for each other only through the queue between them.
Wake MpaDeframer::tick() {
  Burst to(*out);
  Cycle next_in, next_out;
  unsigned waiting;
  do {
    next_in = ingest();
    waiting = queued_;
    next_out = emit(to);
  } while (queued_ < waiting);
  to.finish();
  return Wake::at_cycle(std::min(next_in, next_out));
}

// Sends the beats that can leave until the horizon; returns when the next one can.
Cycle MpaDeframer::emit(Burst<FpduBeat>& to) {
  while (queued_ != 0) {
    Fpdu& fpdu = queue_[head_];
    Cycle at = std::max({fpdu.from, emit_from_, to.credit_at()});
    if (fpdu.words_left <= beat_words_) at = std::max(at, consumed->credit_at());
    if (at > horizon()) return at;
    const FpduBeat beat = cut(fpdu);
    const unsigned beats = beat.last ? 1 : to.room(beat, at, beats_to_marker(fpdu), horizon());
    to.push(beat, at, beats);
    fpdu.words_left -= beats * beat.words;
    fpdu.words_to_marker -= beats * beat.words;
    fpdu.next.data += 4u * beats * beat.words;
    fpdu.next.first = false;
    emit_from_ = at + beats;
    if (fpdu.words_left != 0) continue;
    consumed->push_at({fpdu.next.flow, fpdu.wire_octets}, at);
    fpdu.buf.release();  // belongs to the last beat now
    fpdu.from = at + 1;
    head_ = (head_ + 1) % static_cast<unsigned>(queue_.size());
    --queued_;
  }
  return kNever;
}

// The beat to send next.
FpduBeat MpaDeframer::cut(Fpdu& fpdu) const {
  FpduBeat beat = fpdu.next;
  beat.words = static_cast<std::uint8_t>(std::min(fpdu.words_left, beat_words_));
  beat.last = fpdu.words_left <= beat_words_;
  if (fpdu.markers_left != 0 && fpdu.words_to_marker < beat.words) {
    beat.marker_lane = static_cast<std::uint8_t>(fpdu.words_to_marker);
    std::memcpy(beat.marker, fpdu.markers, wire::kMarkerBytes);
    fpdu.markers += wire::kMarkerBytes;
    fpdu.words_to_marker += (wire::kMarkerInterval - wire::kMarkerBytes) / 4;
    --fpdu.markers_left;
  }
  return beat;
}

// It, and the later ones that have no marker and are not the last.
unsigned MpaDeframer::beats_to_marker(const Fpdu& fpdu) const {
  const unsigned words = fpdu.words_left - 1;
  return (fpdu.markers_left == 0 ? words : std::min(words, fpdu.words_to_marker)) / beat_words_;
}

// Takes the octets that arrive until the horizon, those of one FPDU and one beat per cycle; returns when the next ones
// can be taken.
Cycle MpaDeframer::ingest() {
  for (;;) {
    Cycle at = std::max(in->front_at(), ingest_from_);
    if (at > horizon()) return at;
    const StreamBeat& beat = in->front();
    Flow& flow = flows_[beat.flow.v];
    if (begins_stream(beat)) flow = Flow{};
    RNIC_CHECK(beat.offset + used_ == flow.next);
    if (beat.placed || beat.ends) {
      if ((at = std::max(at, room_at())) > horizon()) return at;
      beat.placed ? stand_in(flow, beat, at) : end(flow, beat, at);
      ingest_from_ = at + 1;
      in->drop_at(at);
      continue;
    }

    std::uint32_t count = beat.bytes - used_;
    if (flow.size == 0) flow.size = fpdu_size(flow, beat.markers, beat.data + used_, count);
    if (const unsigned beats = whole_beats(flow, beat, at); beats > 1) {
      take(flow, beat.data, beats * count);
      ingest_from_ = at + beats;
      in->drop_at(at, beats);
      continue;
    }
    if (flow.size != 0) count = std::min(count, flow.size - flow.seen);
    const bool completes = flow.seen + count == flow.size;
    if (completes && (at = std::max(at, room_at())) > horizon()) return at;

    take(flow, beat.data + used_, count);
    used_ += count;
    if (completes) complete(flow, beat, at);
    ingest_from_ = at + 1;
    if (used_ != beat.bytes) continue;
    if (beat.last) end_segment(beat);
    in->drop_at(at);
    used_ = 0;
  }
}

// Of the offered run, how many beats can be taken until the horizon and leave the FPDU incomplete.
unsigned MpaDeframer::whole_beats(const Flow& flow, const StreamBeat& first, Cycle at) const {
  if (used_ != 0 || flow.size == 0) return 0;
  return static_cast<unsigned>(
      std::min<Cycle>({in->front_run(), beats_before_last(flow.size - flow.seen, first), horizon() - at + 1}));
}

// An FPDU's beats before its last one take one cycle each.
Acceptance MpaDeframer::accepts(const StreamBeat& beat, Cycle at) {
  const Flow& flow = flows_[beat.flow.v];
  const bool renews = begins_stream(beat) && flow.next != 0;
  if (used_ != 0 || beat.placed || beat.ends || renews) return {};
  const std::uint32_t size = flow.size != 0 ? flow.size : fpdu_size(flow, beat.markers, beat.data, beat.bytes);
  return {size == 0 ? 0 : beats_before_last(size - flow.seen, beat), std::max(ingest_from_, at)};
}

void MpaDeframer::take(Flow& flow, const std::uint8_t* octets, std::uint32_t count) {
  if (flow.collected) std::memcpy(flow.collected->bytes() + flow.seen, octets, count);
  else if (flow.seen == 0) fpdu_ = octets;
  else RNIC_CHECK(octets == fpdu_ + flow.seen);  // a segment is contiguous
  flow.seen += count;
  flow.next += count;
}

// What has begun and continues in a later segment is collected; the segment's own reference is dropped.
void MpaDeframer::end_segment(const StreamBeat& beat) {
  const BufferRef segment = BufferRef::adopt(beat.buf);
  Flow& flow = flows_[beat.flow.v];
  if (flow.seen == 0 || flow.collected) return;
  flow.collected = collecting_.take_like(segment.get());
  std::memcpy(flow.collected->bytes(), fpdu_, flow.seen);
}

// All octets of the FPDU that starts with these; 0 while its length field, which may be split between two beats or two
// segments, is not complete.
std::uint32_t MpaDeframer::fpdu_size(const Flow& flow, bool markers, const std::uint8_t* octets,
                                     std::size_t count) const {
  const wire::StreamPosition start = flow.start();
  const std::size_t at = markers ? wire::ulpdu_length_position(start) - start : 0;
  if (flow.seen + count < at + wire::kUlpduLengthBytes) return 0;
  const std::uint8_t* before = flow.collected ? flow.collected->bytes() : fpdu_;
  const auto octet = [&](std::size_t i) { return i < flow.seen ? before[i] : octets[i - flow.seen]; };
  return fpdu_octets(start, markers, static_cast<std::size_t>(octet(at) << 8 | octet(at + 1)));
}

std::uint32_t MpaDeframer::fpdu_octets(wire::StreamPosition start, bool markers, std::size_t ulpdu_length) {
  return static_cast<std::uint32_t>(markers ? wire::marked_fpdu_bytes(start, ulpdu_length)
                                            : wire::fpdu_bytes(ulpdu_length));
}

// The header of an early-placed FPDU counts for all its octets. If no FPDU starts there, the framing that
// early_placement found was not the stream's: an MPA error, as with a marker that points elsewhere.
void MpaDeframer::stand_in(Flow& flow, const StreamBeat& beat, Cycle at) {
  RNIC_CHECK(beat.first && beat.last && beat.bytes == kPlacedHeaderBytes);
  const wire::StreamPosition start = static_cast<wire::StreamPosition>(flow.next);
  count(false, 0, pass(flow, beat, at, FpduBeat::kPlaced, fpdu_octets(start, beat.markers, load_be16(beat.data))));
}

// A beat that passes unchanged and replaces that many octets; returns its marker_ok.
bool MpaDeframer::pass(Flow& flow, const StreamBeat& beat, Cycle at, std::uint8_t kind, std::uint32_t wire_octets) {
  Fpdu& fpdu = queue_[tail()];
  ++queued_;
  fpdu = Fpdu{};
  fpdu.next.marker_ok = flow.seen == 0;
  flow.collected = {};
  flow.seen = flow.size = 0;
  fpdu.from = at + 1;
  fpdu.wire_octets = wire_octets;
  fpdu.buf = BufferRef::adopt(beat.buf);
  fpdu.next.buf = beat.buf;
  fpdu.next.data = beat.buf->bytes() + (beat.data - beat.buf->bytes());
  fpdu.next.flow = beat.flow;
  fpdu.next.qpn = beat.qpn;
  fpdu.next.life = beat.life;
  fpdu.next.first = true;
  fpdu.next.marker_lane = kind;
  fpdu.next.crc_on = beat.crc;
  fpdu.words_left = beat.bytes / 4;
  flow.next += wire_octets;
  return fpdu.next.marker_ok;
}

// The peer's FIN. An FPDU that it cuts short is dropped.
void MpaDeframer::end(Flow& flow, const StreamBeat& beat, Cycle at) {
  RNIC_CHECK(beat.first && beat.last && beat.bytes == kEndBytes);
  pass(flow, beat, at, FpduBeat::kEnds, 0);
}

// By reference if the FPDU is in its segment in the form that DDP needs.
void MpaDeframer::complete(Flow& flow, const StreamBeat& beat, Cycle at) {
  Fpdu& fpdu = queue_[tail()];
  ++queued_;
  const bool straddles = static_cast<bool>(flow.collected);
  const wire::StreamPosition start = flow.start();
  fpdu = Fpdu{};
  fpdu.from = at + 1;
  fpdu.wire_octets = flow.size;
  fpdu.next.flow = beat.flow;
  fpdu.next.qpn = beat.qpn;
  fpdu.next.life = beat.life;
  fpdu.next.first = true;
  fpdu.next.crc_on = beat.crc;
  fpdu.buf = straddles ? std::move(flow.collected) : share(beat.buf);
  fpdu.next.data = fpdu.buf->bytes() + (straddles ? 0 : fpdu_ - fpdu.buf->bytes());
  fpdu.words_left = flow.size / 4;
  if (beat.markers && wire::octets_to_marker(start) < flow.size) take_out_markers(fpdu, start, straddles);
  fpdu.next.buf = fpdu.buf.get();
  flow.seen = flow.size = 0;
  count(straddles, fpdu.markers_left, fpdu.next.marker_ok);
}

void MpaDeframer::count(bool straddles, unsigned markers, bool marker_ok) {
  ++counters_.fpdus;
  if (straddles) ++counters_.straddling;
  counters_.markers += markers;
  if (!marker_ok) ++counters_.bad_markers;
}

// Closes the gaps; the markers follow the words. A collected FPDU is not shared and is moved in place.
void MpaDeframer::take_out_markers(Fpdu& fpdu, wire::StreamPosition start, bool in_place) {
  RNIC_CHECK(in_place || fpdu.wire_octets <= pool_.block_bytes());
  BufferRef target = in_place ? fpdu.buf : pool_.take_like(fpdu.buf.get());
  std::array<std::uint8_t, wire::kMarkerBytes * kMostMarkers> markers;
  std::size_t marker_octets = 0;
  std::uint8_t* to = target->bytes();
  take_apart(
      fpdu.next.data, fpdu.wire_octets, start,
      [&](const std::uint8_t* run, std::size_t count) {
        std::memmove(to, run, count);
        to += count;
      },
      [&](const std::uint8_t* marker, bool ok) {
        fpdu.next.marker_ok &= ok;
        std::memcpy(&markers[marker_octets], marker, wire::kMarkerBytes);
        marker_octets += wire::kMarkerBytes;
      });
  std::memcpy(to, markers.data(), marker_octets);
  fpdu.markers = to;
  fpdu.markers_left = static_cast<unsigned>(marker_octets / wire::kMarkerBytes);
  fpdu.words_to_marker = static_cast<unsigned>(wire::octets_to_marker(start) / 4);
  fpdu.words_left -= fpdu.markers_left;
  fpdu.next.data = target->bytes();
  fpdu.buf = std::move(target);
}

void MpaDeframer::set_position(FlowId flow, std::uint64_t position) {
  RNIC_CHECK(position % 4 == 0);
  flows_[flow.v] = Flow{};
  flows_[flow.v].next = position;
}

std::string MpaDeframer::waiting_for() const {
  if (queued_ == 0) return "";
  const std::string flow = std::to_string(queue_[head_].next.flow.v);
  return "room for " + std::to_string(queue_[head_].words_left) + " words of an FPDU of flow " + flow;
}

void MpaDeframer::describe(const Description& d) {
  d.counters(counters_);
  d.series("rx.fpdus", 120, counters_, &MpaDeframerCounters::fpdus);
}

}  // namespace rnic
