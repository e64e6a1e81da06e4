#include "model/rnic/tx/mpa_framer.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"
#include "model/wire/fpdu.h"

namespace rnic {

void MpaFramer::reset() {
  if (!fpdu_.done()) BufferRef::adopt(fpdu_.next().buf);
  next_at_ = 0;
  fpdu_ = {};
  completes_wqe_ = false;
}

// An FPDU is begun in the cycle in which its first beat leaves.
Wake MpaFramer::tick() {
  Burst to(*out);
  Cycle at;
  for (;;) {
    at = std::max(fpdu_.done() ? in->front_at() : 0, next_at_);
    if (at > horizon() || (at = std::max(at, to.credit_at())) > horizon()) break;
    if (fpdu_.done()) frame(in->pop_at(at));
    next_at_ = at;
    fpdu_.push(to, beat_words_, next_at_, horizon(), [this](FpduBeat& last) { last.completes_wqe = completes_wqe_; });
  }
  to.finish();
  return Wake::at_cycle(at);
}

// Length field before the ULPDU, pad and an empty CRC field after it, all in the ULPDU's own buffer.
void MpaFramer::frame(Ulpdu ulpdu) {
  const std::size_t octets = wire::fpdu_bytes(ulpdu.bytes);
  RNIC_CHECK(kFrameHeadroom + octets <= ulpdu.buf->capacity());
  std::uint8_t* fpdu = ulpdu.buf->bytes() + kFrameHeadroom;
  store_be16(fpdu, ulpdu.bytes);
  std::memset(fpdu + wire::kUlpduLengthBytes + ulpdu.bytes, 0, wire::fpdu_pad(ulpdu.bytes) + wire::kFpduCrcBytes);

  FpduBeat first;
  first.buf = ulpdu.buf.release();
  first.data = fpdu;
  first.flow = ulpdu.flow;
  first.crc_on = ulpdu.crc;
  first.set_start(ulpdu);
  fpdu_.start(first, static_cast<std::uint32_t>(octets / 4));
  completes_wqe_ = ulpdu.completes_wqe;
  count(ulpdu);
}

void MpaFramer::count(const Ulpdu& ulpdu) {
  ++counters_.fpdus;
  counters_.ulpdu_octets += ulpdu.bytes;
}

std::string MpaFramer::waiting_for() const {
  return fpdu_.done() ? "" : "room for " + std::to_string(fpdu_.left()) + " words of an FPDU";
}

void MpaFramer::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
