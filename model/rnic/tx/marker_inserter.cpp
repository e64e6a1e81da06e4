#include "model/rnic/tx/marker_inserter.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"

namespace rnic {

void MarkerInserter::reset() {
  const bool owner = with_markers_ || complete_;  // otherwise the next incoming beat
  if (end_ != nullptr && owner) BufferRef::adopt(next_.buf);
  emit_from_ = absorb_from_ = 0;
  pending_words_ = 0;
  complete_ = completes_wqe_ = with_markers_ = false;
  next_ = {};
  end_ = nullptr;
  position_ = length_at_ = 0;
}

// In a cycle a beat leaves before one is taken, so a beat leaves in the next cycle at the earliest, and room is used in
// the cycle in which it is made.
Wake MarkerInserter::tick() {
  Burst to(*out);
  Cycle at;
  for (;;) {
    if (pending_words_ >= beat_words_ || complete_) {
      if ((at = std::max(to.credit_at(), emit_from_)) > horizon()) break;
      if (const unsigned along = beats_along(at); along != 0) {
        next_.words = static_cast<std::uint8_t>(beat_words_);
        const unsigned beats = to.room(next_, at, along, horizon());
        to.push(next_, at, beats);
        next_.advance(beats);
        pending_words_ -= beats * beat_words_;
        absorb(at, beats);
        emit_from_ = at + beats;
      } else {
        to.push(cut(), at);
        emit_from_ = at + 1;
        absorb_from_ = std::max(absorb_from_, at);
      }
    } else {
      if ((at = std::max(in->front_at(), absorb_from_)) > horizon()) break;
      absorb(at, 1);
      emit_from_ = std::max(emit_from_, at + 1);
    }
  }
  to.finish();
  return Wake::at_cycle(at);
}

// From cycle `at` on a full beat leaves in each cycle. In how many of them can a beat of the same FPDU, not its last,
// be taken?
unsigned MarkerInserter::beats_along(Cycle at) const {
  if (complete_ || in->front_at() > at || absorb_from_ > at || in->front().last) return 0;
  return std::min(in->front_run(), beats_at_rate(pending_words_, position_, with_markers_));
}

// How many beats can be taken at one per cycle before the markers between them fill the accumulator: the last one is
// taken while less than a beat is left. `pending` words are there before the first beat leaves.
unsigned MarkerInserter::beats_at_rate(unsigned pending, wire::StreamPosition position, bool with_markers) const {
  const unsigned full = 2 * beat_words_;
  if (pending >= full) return 0;
  if (!with_markers) return Acceptance::kAll;
  const std::size_t octets =
      wire::octets_to_marker(position) + (full - 1 - pending) * (wire::kMarkerInterval - wire::kMarkerBytes);
  return static_cast<unsigned>(octets / (4 * beat_words_)) + 1;
}

// When the accumulator is empty or has less than a beat, and its output finds room.
Acceptance MarkerInserter::accepts(const FpduBeat& beat, Cycle at) {
  const Cycle from = std::max(absorb_from_, at);
  if (complete_ || pending_words_ >= beat_words_ || emit_from_ > from + 1) return {};
  const wire::StreamPosition start = beat.first ? beat.start() : position_;
  const bool marked = beat.first ? beat.wants_markers() : with_markers_;
  const unsigned beats = beats_at_rate(pending_words_ + beat_words_, start, marked);
  return {beats == 0 ? 0 : std::min(beats, out->room(beat, from + 1) + 1), from};
}

// A full beat, or the rest of a complete FPDU.
FpduBeat MarkerInserter::cut() {
  next_.words = static_cast<std::uint8_t>(std::min(pending_words_, beat_words_));
  pending_words_ -= next_.words;
  next_.last = complete_ && pending_words_ == 0;
  next_.completes_wqe = next_.last && completes_wqe_;
  const FpduBeat beat = next_;
  next_.advance(1);
  if (beat.last) {
    complete_ = false;
    end_ = nullptr;
  }
  return beat;
}

// Beats of one run, from cycle `at` on, each while less than one is left and the FPDU needs more.
void MarkerInserter::absorb(Cycle at, unsigned beats) {
  const FpduBeat& beat = in->front();
  if (beat.first) begin(beat);
  const std::uint32_t octets = 4u * beat.words * beats;
  if (with_markers_) {
    copy_with_markers(beat.data, octets);
  } else {
    RNIC_CHECK(beat.data == end_);  // an FPDU is contiguous
    end_ += octets;
    position_ += octets;
    pending_words_ += octets / 4;
  }
  complete_ = beat.last;
  if (beat.last) {
    completes_wqe_ = beat.completes_wqe;
    if (with_markers_) BufferRef::adopt(beat.buf);  // and released: the copy travels on
  }
  in->drop_at(at, beats);
  absorb_from_ = at + beats;
}

void MarkerInserter::begin(const FpduBeat& beat) {
  position_ = beat.start();
  RNIC_CHECK(position_ % 4 == 0);
  length_at_ = wire::ulpdu_length_position(position_);
  with_markers_ = beat.wants_markers();
  next_ = beat;
  next_.clear_start();
  if (with_markers_) {
    next_.buf = pool_.take_like(beat.buf).release();
    next_.data = next_.buf->bytes() + kFrameHeadroom;
    RNIC_CHECK(kFrameHeadroom + wire::marked_fpdu_bytes(position_, load_be16(beat.data)) <= next_.buf->capacity());
  }
  end_ = next_.data;
}

// A marker that is due right after the last word is not reached: it belongs to the next FPDU.
void MarkerInserter::copy_with_markers(const std::uint8_t* from, std::uint32_t octets) {
  const std::uint8_t* const from_end = from + octets;
  const std::uint8_t* const start = end_;
  while (from != from_end) {
    if (wire::is_marker_position(position_)) {
      wire::store_marker(end_, wire::fpduptr(position_, length_at_));
      end_ += wire::kMarkerBytes;
      position_ += static_cast<wire::StreamPosition>(wire::kMarkerBytes);
      count(1);
    }
    const std::size_t piece = std::min<std::size_t>(from_end - from, wire::octets_to_marker(position_));
    std::memcpy(end_, from, piece);
    from += piece;
    end_ += piece;
    position_ += static_cast<wire::StreamPosition>(piece);
  }
  pending_words_ += static_cast<unsigned>(end_ - start) / 4;
}

std::string MarkerInserter::waiting_for() const {
  if (pending_words_ == 0) return "";
  const std::string words =
      std::to_string(pending_words_) + " words of an FPDU of flow " + std::to_string(next_.flow.v);
  return (complete_ || pending_words_ >= beat_words_ ? "room for " : "the rest after ") + words;
}

void MarkerInserter::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
