// CRC32c of FPDUs to be sent (RFC 5044 section 4.4). See crc_insert.md.
#pragma once

#include <cstdint>

#include "model/common/beat_stage.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

struct CrcInsertConfig {
  unsigned pipeline_cycles = 4;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &CrcInsertConfig::pipeline_cycles,
      "depth of the CRC32c tree: cycles from a beat's entry to its exit", in_range(1, 32), unit("cycles"));
  }
};

struct CrcInsertCounters {
  std::uint64_t inserted = 0, left_zero = 0;
  template <class V>
  static void fields(V& v) {
    v("inserted", &CrcInsertCounters::inserted, "FPDUs", "FPDUs sent with a CRC32c");
    v("left_zero", &CrcInsertCounters::left_zero, "FPDUs", "FPDUs of streams without CRC");
  }
};

class CrcInsert final : public Passes<FpduBeat, CrcInsert> {
 public:
  CrcInsert(sc_core::sc_module_name nm, ClockDomain& clk);

  void on(const FpduBeat& beat) {
    if (beat.first) fpdu_ = beat.data;
    if (beat.last) seal(beat);
  }
  void forget() { fpdu_ = nullptr; }

  void count(const FpduBeat& last) {
    ++(last.crc_on ? counters_.inserted : counters_.left_zero);
  }  // the twin of this stage calls it too
  void describe(const Description& d) override;
  const CrcInsertCounters& counters() const { return counters_; }

 private:
  void seal(const FpduBeat& beat);

  const std::uint8_t* fpdu_ = nullptr;  // first octet of the current FPDU, which is contiguous
  CrcInsertCounters counters_;
};
extern template class Passes<FpduBeat, CrcInsert>;

}  // namespace rnic
