#include "model/rnic/tx/mpa_framer.h"

#include <algorithm>
#include <cstring>

#include "model/common/burst.h"
#include "model/common/description.h"
#include "model/wire/fpdu.h"

namespace rnic {

void MpaFramer::reset() {
  if (words_left_ != 0) BufferRef::adopt(next_.buf);
  next_at_ = 0;
  next_ = {};
  words_left_ = 0;
  completes_wqe_ = false;
}

Wake MpaFramer::tick() {
  Burst to(*out);
  for (;;) {
    Cycle at = std::max(words_left_ == 0 ? in->front_at() : 0, next_at_);
    if (at > horizon() || (at = std::max(at, to.credit_at())) > horizon()) return Wake::at_cycle(at);
    if (words_left_ == 0) frame(in->pop_at(at));
    next_.words = static_cast<std::uint8_t>(std::min(words_left_, beat_words_));
    next_.last = words_left_ <= beat_words_;
    next_.completes_wqe = next_.last && completes_wqe_;
    const unsigned beats = next_.last ? 1 : to.room(next_, at, (words_left_ - 1) / beat_words_, horizon());
    to.push(next_, at, beats);
    words_left_ -= beats * next_.words;
    next_.advance(beats);
    next_at_ = at + beats;
  }
}

// Length field before the ULPDU, pad and an empty CRC field after it, all in the ULPDU's own buffer.
void MpaFramer::frame(Ulpdu ulpdu) {
  const std::size_t octets = wire::fpdu_bytes(ulpdu.bytes);
  RNIC_CHECK(kFrameHeadroom + octets <= ulpdu.buf->capacity());
  std::uint8_t* fpdu = ulpdu.buf->bytes() + kFrameHeadroom;
  store_be16(fpdu, ulpdu.bytes);
  std::memset(fpdu + wire::kUlpduLengthBytes + ulpdu.bytes, 0, wire::fpdu_pad(ulpdu.bytes) + wire::kFpduCrcBytes);

  next_ = FpduBeat{};
  next_.buf = ulpdu.buf.release();
  next_.data = fpdu;
  next_.flow = ulpdu.flow;
  next_.first = true;
  next_.crc_on = contexts_.flow(ulpdu.flow).crc;
  words_left_ = static_cast<unsigned>(octets / 4);
  completes_wqe_ = ulpdu.completes_wqe;
  count(ulpdu);
}

void MpaFramer::count(const Ulpdu& ulpdu) {
  ++counters_.fpdus;
  counters_.ulpdu_octets += ulpdu.bytes;
}

std::string MpaFramer::waiting_for() const {
  return words_left_ == 0 ? "" : "room for " + std::to_string(words_left_) + " words of an FPDU";
}

void MpaFramer::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
