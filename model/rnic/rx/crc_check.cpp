#include "model/rnic/rx/crc_check.h"

#include "model/common/crc32c.h"
#include "model/common/description.h"

namespace rnic {

template class Passes<FpduBeat, CrcCheck>;

CrcCheck::CrcCheck(sc_core::sc_module_name nm, ClockDomain& clk) : Passes(nm, clk) {}

bool CrcCheck::matches(const FpduBeat& last) const {
  return crc32c_final(crc_) == load_crc32c(last.data + 4u * (last.words - 1u));
}

void CrcCheck::count(const FpduBeat& last) {
  if (!last.ends()) ++(!last.crc_on ? counters_.unchecked : last.crc_ok ? counters_.good : counters_.bad);
}

// The CRC covers all words except the CRC field, and the markers in their original places. Beats without a marker are
// fed together with the beats after them.
void CrcCheck::absorb(const FpduBeat& beat) {
  if (beat.first) {
    crc_ = kCrc32cInit;
    run_ = beat.data;
  }
  if (beat.marker_lane != FpduBeat::kNoMarker) {
    absorb_run(beat.data + 4u * beat.marker_lane);
    crc_ = crc32c_update(crc_, {beat.marker, sizeof beat.marker});
  }
  if (beat.last) absorb_run(beat.data + 4u * (beat.words - 1u));
}

void CrcCheck::absorb_run(const std::uint8_t* end) {
  crc_ = crc32c_update(crc_, {run_, static_cast<std::size_t>(end - run_)});
  run_ = end;
}

void CrcCheck::describe(const Description& d) {
  d.counters(counters_);
  d.use(UseKind::kReceive, "receive datapath, {node}", 50,
        [this] { return static_cast<double>(out->pushed() * clock().period_ps()); });
}

}  // namespace rnic
