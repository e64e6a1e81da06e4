// An outgoing segment, one beat at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/common/burst.h"
#include "model/rnic/llp/received_octets.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::llp {

class SegmentBeats {
 public:
  bool done() const { return left_ == 0; }
  FlowId flow() const { return next_.flow; }

  // For placed octets, only the header leaves.
  void start(FlowId flow, ReceivedOctets&& octets, std::uint64_t offset) {
    next_ = {};
    next_.buf = octets.buf.get();
    next_.data = octets.data;
    next_.offset = offset;
    next_.flow = flow;
    next_.first = true;
    next_.placed = octets.header_bytes != 0;
    left_ = octets.held();
    buf_ = std::move(octets.buf);
  }
  // A word that represents the peer's FIN or RST.
  void start_end(FlowId flow, BufferRef word, StreamEnd end, std::uint64_t offset) {
    std::uint8_t* const data = word->bytes();
    store_be32(data, static_cast<std::uint32_t>(end) << 16);
    start(flow, received_octets(std::move(word), {data, kEndBytes}, 0), offset);
    next_.ends = true;
  }
  const StreamBeat& next(unsigned beat_bytes) {
    next_.bytes = static_cast<std::uint8_t>(std::min<std::uint32_t>(beat_bytes, left_));
    next_.last = next_.bytes == left_;
    return next_;
  }
  // The next beat, or a run of them without the last one. The reference travels with the last one.
  void drop(unsigned beats) {
    left_ -= beats * next_.bytes;
    next_.advance(beats);
    if (left_ == 0) buf_.release();
  }
  // As many as can leave until the horizon, one per cycle from `free_from` on.
  void push(Link<StreamBeat>& link, unsigned beat_bytes, Cycle& free_from, Cycle horizon) {
    Burst to(link);
    for (Cycle at; !done() && (at = std::max(to.credit_at(), free_from)) <= horizon;) {
      const StreamBeat& beat = next(beat_bytes);
      const unsigned beats = beat.last ? 1 : to.room(beat, at, (left_ - 1) / beat_bytes, horizon);
      to.push(beat, at, beats);
      drop(beats);
      free_from = at + beats;
    }
  }

 private:
  BufferRef buf_;
  StreamBeat next_;
  std::uint32_t left_ = 0;
};

}  // namespace rnic::llp
