// CRC32c check of received FPDUs (RFC 5044 section 4.4). See crc_check.md.
#pragma once

#include <cstdint>

#include "model/common/beat_stage.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

struct CrcCheckConfig {
  unsigned pipeline_cycles = 4;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &CrcCheckConfig::pipeline_cycles,
      "depth of the CRC32c tree: cycles from a beat's entry to its exit", in_range(1, 32), unit("cycles"));
  }
};

struct CrcCheckCounters {
  std::uint64_t good = 0, bad = 0, unchecked = 0;
  template <class V>
  static void fields(V& v) {
    v("good", &CrcCheckCounters::good, "FPDUs", "FPDUs whose CRC32c was correct");
    v("bad", &CrcCheckCounters::bad, "FPDUs", "FPDUs whose CRC32c was wrong (MPA error 2)");
    v("unchecked", &CrcCheckCounters::unchecked, "FPDUs", "FPDUs of streams without CRC");
  }
};

class CrcCheck final : public Passes<FpduBeat, CrcCheck> {
 public:
  CrcCheck(sc_core::sc_module_name nm, ClockDomain& clk);

  void on(FpduBeat& beat) {
    const bool covered = beat.crc_on && !beat.placed() && !beat.ends();
    if (covered) absorb(beat);
    if (!beat.last) return;
    beat.crc_ok = !covered || matches(beat);
    count(beat);
  }
  void forget() {
    crc_ = 0;
    run_ = nullptr;
  }

  void count(const FpduBeat& last);  // an FPDU was checked; the twin of this stage calls it too
  void describe(const Description& d) override;
  const CrcCheckCounters& counters() const { return counters_; }

 private:
  void absorb(const FpduBeat& beat);
  bool matches(const FpduBeat& last) const;
  void absorb_run(const std::uint8_t* end);

  std::uint32_t crc_ = 0;
  const std::uint8_t* run_ = nullptr;  // words that were not fed yet, contiguous
  CrcCheckCounters counters_;
};
extern template class Passes<FpduBeat, CrcCheck>;

}  // namespace rnic
