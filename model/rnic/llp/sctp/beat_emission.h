// Octets on their way out as FPDU beats, one per cycle: a packet to or from the CRC engine, or a segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/common/beat_stage.h"
#include "model/rnic/context/flow_rows.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::sctp {

class BeatEmission {
 public:
  explicit BeatEmission(const DatapathConfig& datapath) : beat_words_(datapath.beat_bytes / 4) {}

  // `words` 32-bit words from `data` on, which are in the buffer. The last one is the CRC field.
  void start(BufferRef buf, std::uint8_t* data, std::uint32_t words, FlowId flow, const QpUse& qp = {},
             std::uint8_t lane = FpduBeat::kNoMarker) {
    FpduBeat first;
    first.buf = buf.get();
    first.data = data;
    first.flow = flow;
    first.qpn = qp.qpn;
    first.life = life_of(qp.epoch);
    first.crc_ok = true;
    first.marker_lane = lane;
    beats_.start(first, words);
    buf_ = std::move(buf);
  }
  // A segment whose payload is already placed: only its header, in one beat.
  void start_placed(BufferRef buf, std::uint8_t* data, std::uint32_t words, FlowId flow, const QpUse& qp) {
    start(std::move(buf), data, words, flow, qp, FpduBeat::kPlaced);
  }
  // A word that represents the end of a stream.
  void start_end(BufferRef word, FlowId flow, const QpUse& qp) {
    std::uint8_t* const data = word->bytes();
    start(std::move(word), data, 1, flow, qp, FpduBeat::kEnds);
  }
  void reset() { *this = BeatEmission(DatapathConfig{beat_words_ * 4}); }

  bool done() const { return beats_.done(); }
  // When the next octets may begin: the cycle after the last beat.
  bool free(Cycle now) const { return done() && free_from_ <= now; }
  Cycle free_from() const { return free_from_; }
  // When push() has something to do; kNever: nothing, or the link must call.
  Cycle next(Link<FpduBeat>& link) const { return done() ? kNever : std::max(link.credit_at(), free_from_); }

  // As many as can leave until the horizon. True if the last one has left, with the reference.
  bool push(Link<FpduBeat>& link, Cycle now, Cycle horizon) {
    if (done()) return false;
    free_from_ = std::max(free_from_, now);
    beats_.push(link, beat_words_, free_from_, horizon);
    if (done()) buf_.release();
    return done();
  }

 private:
  std::uint32_t beat_words_;
  Cycle free_from_ = 0;
  Emission<FpduBeat> beats_;
  BufferRef buf_;
};

}  // namespace rnic::sctp

namespace rnic {
extern template class Collects<FpduBeat, CollectsAll<FpduBeat>>;  // of both stages around a CRC engine
}
