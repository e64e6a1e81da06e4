#include "model/rnic/tx/crc_insert.h"

#include <algorithm>

#include "model/common/burst.h"
#include "model/common/crc32c.h"

namespace rnic {

void CrcInsert::reset() {
  next_ = 0;
  fpdu_ = nullptr;
}

Wake CrcInsert::tick() {
  BurstIn from(*in);
  BurstOut to(*out);
  Cycle at;
  for (; (at = std::max({from.front_at(), to.credit_at(), next_})) <= horizon(); next_ = at + 1) {
    const FpduBeat& beat = from.front();
    if (beat.first) fpdu_ = beat.data;
    if (beat.last) seal(beat);
    to.push(beat, at);
    from.drop(at);
  }
  return Wake::at_cycle(at);
}

// The tree takes in a beat a cycle; nobody sees the register before the FPDU's last one.
void CrcInsert::seal(const FpduBeat& last) {
  count(last);
  if (!last.crc_on) return;
  std::uint8_t* const field = last.data + 4u * (last.words - 1u);
  store_crc32c(field, crc32c({fpdu_, static_cast<std::size_t>(field - fpdu_)}));
}

void CrcInsert::register_stats(const StatsGroup& group) const {
  group.counter("inserted", inserted_, "FPDUs", "FPDUs sent with a CRC32c");
  group.counter("left_zero", left_zero_, "FPDUs", "FPDUs of streams that agreed on no CRC");
}

}  // namespace rnic
