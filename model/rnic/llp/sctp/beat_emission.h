// Octets on their way out as FPDU beats, one per cycle: a packet to or from the CRC engine, or a segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/common/burst.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::sctp {

class BeatEmission {
 public:
  explicit BeatEmission(const DatapathConfig& datapath) : beat_words_(datapath.beat_bytes / 4) {}

  // `words` 32-bit words from `data` on, which are in the buffer. The last one is the CRC field.
  void start(BufferRef buf, std::uint8_t* data, std::uint32_t words, FlowId flow) {
    next_ = {};
    next_.buf = buf.get();
    next_.data = data;
    next_.flow = flow;
    next_.first = true;
    next_.crc_ok = true;
    words_left_ = words;
    buf_ = std::move(buf);
  }
  // A segment whose payload is already placed: only its header, in one beat.
  void start_placed(BufferRef buf, std::uint8_t* data, std::uint32_t words, FlowId flow) {
    start(std::move(buf), data, words, flow);
    next_.marker_lane = FpduBeat::kPlaced;
  }
  // A word that represents the end of a stream.
  void start_end(BufferRef word, FlowId flow) {
    std::uint8_t* const data = word->bytes();
    start(std::move(word), data, 1, flow);
    next_.marker_lane = FpduBeat::kEnds;
  }
  void reset() { *this = BeatEmission(DatapathConfig{beat_words_ * 4}); }

  bool done() const { return words_left_ == 0; }
  // When the next octets may begin: the cycle after the last beat.
  bool free(Cycle now) const { return done() && free_from_ <= now; }
  Cycle free_from() const { return free_from_; }
  // When push() has something to do; kNever: nothing, or the link must call.
  Cycle next(Link<FpduBeat>& link) const { return done() ? kNever : std::max(link.credit_at(), free_from_); }

  // As many as can leave until the horizon. True if the last one has left.
  bool push(Link<FpduBeat>& link, Cycle now, Cycle horizon) {
    if (done()) return false;
    free_from_ = std::max(free_from_, now);
    Burst to(link);
    for (Cycle at; !done() && (at = std::max(to.credit_at(), free_from_)) <= horizon;) {
      next_.words = static_cast<std::uint8_t>(std::min(beat_words_, words_left_));
      next_.last = words_left_ <= beat_words_;
      const unsigned beats = next_.last ? 1 : to.room(next_, at, (words_left_ - 1) / beat_words_, horizon);
      to.push(next_, at, beats);
      words_left_ -= beats * next_.words;
      next_.advance(beats);
      free_from_ = at + beats;
    }
    if (done()) buf_.release();  // the reference travels with the last beat
    return done();
  }

 private:
  std::uint32_t beat_words_;
  std::uint32_t words_left_ = 0;
  Cycle free_from_ = 0;
  FpduBeat next_;
  BufferRef buf_;
};

}  // namespace rnic::sctp
