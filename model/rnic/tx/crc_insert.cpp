#include "model/rnic/tx/crc_insert.h"

#include "model/common/crc32c.h"

namespace rnic {

Wake CrcInsert::tick() {
  if (!in->can_pop() || !out->can_push()) return Wake::on_traffic();
  const FpduBeat beat = in->pop();
  const std::size_t covered = 4u * beat.words - (beat.last ? 4u : 0u);  // all but the CRC field
  if (beat.crc_on) crc_ = crc32c_update(beat.first ? kCrc32cInit : crc_, {beat.data, covered});
  if (beat.last) {
    if (beat.crc_on) store_crc32c(beat.data + covered, crc32c_final(crc_));
    ++(beat.crc_on ? inserted_ : left_zero_);
  }
  out->push(beat);
  return Wake::next_cycle();
}

void CrcInsert::register_stats(const StatsGroup& group) const {
  group.counter("inserted", inserted_, "FPDUs", "FPDUs sent with a CRC32c");
  group.counter("left_zero", left_zero_, "FPDUs", "FPDUs of streams that agreed on no CRC");
}

}  // namespace rnic
