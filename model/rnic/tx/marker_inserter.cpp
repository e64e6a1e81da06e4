#include "model/rnic/tx/marker_inserter.h"

#include <algorithm>
#include <cstring>

#include "model/common/burst.h"
#include "model/stats/registry.h"

namespace rnic {

void MarkerInserter::reset() {
  const bool owner = with_markers_ || complete_;  // otherwise the beat that has not come yet
  if (end_ != nullptr && owner) BufferRef::adopt(next_.buf);
  positions_.assign(positions_.size(), {});
  emit_from_ = absorb_from_ = 0;
  pending_words_ = 0;
  complete_ = completes_wqe_ = with_markers_ = false;
  next_ = {};
  end_ = nullptr;
  position_ = length_at_ = 0;
}

// In a cycle a beat leaves before one comes in, so what came in leaves in the next cycle at the earliest, and room is
// used in the cycle in which it is made.
Wake MarkerInserter::tick() {
  BurstIn from(*in);
  BurstOut to(*out);
  Cycle at;
  for (;;) {
    if (pending_words_ >= beat_words_ || complete_) {
      if ((at = std::max(to.credit_at(), emit_from_)) > horizon()) break;
      to.push(cut(), at);
      emit_from_ = at + 1;
      absorb_from_ = std::max(absorb_from_, at);
    } else {
      if ((at = std::max(from.front_at(), absorb_from_)) > horizon()) break;
      absorb(from.front());
      from.drop(at);
      absorb_from_ = at + 1;
      emit_from_ = std::max(emit_from_, at + 1);
    }
  }
  return Wake::at_cycle(at);
}

// A full beat, or the rest of a complete FPDU.
FpduBeat MarkerInserter::cut() {
  next_.words = static_cast<std::uint8_t>(std::min(pending_words_, beat_words_));
  pending_words_ -= next_.words;
  next_.last = complete_ && pending_words_ == 0;
  next_.completes_wqe = next_.last && completes_wqe_;
  const FpduBeat beat = next_;
  next_.data += 4u * next_.words;
  next_.first = false;
  if (beat.last) {
    complete_ = false;
    end_ = nullptr;
  }
  return beat;
}

// A beat, while less than one is left and the FPDU wants more.
void MarkerInserter::absorb(const FpduBeat& beat) {
  if (beat.first) begin(beat);
  if (with_markers_) {
    copy_with_markers(beat);
  } else {
    RNIC_CHECK(beat.data == end_);  // an FPDU lies in one piece
    end_ += 4u * beat.words;
    position_ += 4u * beat.words;
    pending_words_ += beat.words;
  }
  complete_ = beat.last;
  if (beat.last) {
    completes_wqe_ = beat.completes_wqe;
    set_position(beat.flow, position_);
    if (with_markers_) BufferRef::adopt(beat.buf);  // and gone: the copy travels on
  }
}

void MarkerInserter::begin(const FpduBeat& beat) {
  position_ = position(beat.flow);
  length_at_ = wire::ulpdu_length_position(position_);
  with_markers_ = contexts_.flow(beat.flow).tx_markers;
  next_ = beat;
  if (with_markers_) {
    next_.buf = pool_.take(beat.buf->owner()).release();
    next_.data = next_.buf->bytes() + kFrameHeadroom;
    RNIC_CHECK(kFrameHeadroom + wire::marked_fpdu_bytes(position_, load_be16(beat.data)) <= next_.buf->capacity());
  }
  end_ = next_.data;
}

// A marker that is due right behind the last word is not reached: it belongs to the next FPDU.
void MarkerInserter::copy_with_markers(const FpduBeat& beat) {
  const std::uint8_t* const from_end = beat.data + 4u * beat.words;
  const std::uint8_t* const start = end_;
  for (const std::uint8_t* from = beat.data; from != from_end;) {
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

wire::StreamPosition MarkerInserter::position(FlowId flow) const {
  const Position& p = positions_[flow.v];
  return p.epoch == contexts_.flow(flow).epoch ? p.next : 0;
}

void MarkerInserter::set_position(FlowId flow, wire::StreamPosition position) {
  RNIC_CHECK(position % 4 == 0);
  positions_[flow.v] = {contexts_.flow(flow).epoch, position};
}

std::string MarkerInserter::waiting_for() const {
  if (pending_words_ == 0) return "";
  const std::string words =
      std::to_string(pending_words_) + " words of an FPDU of flow " + std::to_string(next_.flow.v);
  return (complete_ || pending_words_ >= beat_words_ ? "room for " : "the rest after ") + words;
}

void MarkerInserter::register_stats(const StatsGroup& group) const { group.counters(counters_); }

}  // namespace rnic
