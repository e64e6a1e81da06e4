#include "model/rnic/rx/crc_check.h"

#include "model/common/crc32c.h"

namespace rnic {

std::uint32_t crc_absorb(std::uint32_t crc, const FpduBeat& beat) {
  const std::size_t covered = 4u * beat.words - (beat.last ? 4u : 0u);
  if (beat.marker_lane == FpduBeat::kNoMarker) return crc32c_update(crc, {beat.data, covered});
  const std::size_t before = 4u * beat.marker_lane;
  crc = crc32c_update(crc, {beat.data, before});
  crc = crc32c_update(crc, {beat.marker, sizeof beat.marker});
  return crc32c_update(crc, {beat.data + before, covered - before});
}

Wake CrcCheck::tick() {
  if (!in->can_pop() || !out->can_push()) return Wake::on_traffic();
  FpduBeat beat = in->pop();
  if (beat.crc_on) crc_ = crc_absorb(beat.first ? kCrc32cInit : crc_, beat);
  if (beat.last) {
    const std::uint8_t* field = beat.data + 4u * (beat.words - 1u);
    beat.crc_ok = !beat.crc_on || crc32c_final(crc_) == load_crc32c(field);
    ++(!beat.crc_on ? unchecked_ : beat.crc_ok ? good_ : bad_);
  }
  out->push(beat);
  return Wake::next_cycle();
}

void CrcCheck::register_stats(const StatsGroup& group) const {
  group.counter("good", good_, "FPDUs", "FPDUs whose CRC32c was right");
  group.counter("bad", bad_, "FPDUs", "FPDUs whose CRC32c was wrong (MPA error 2)");
  group.counter("unchecked", unchecked_, "FPDUs", "FPDUs of streams that agreed on no CRC");
}

}  // namespace rnic
