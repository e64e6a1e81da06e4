// CRC32c of FPDUs to be sent (RFC 5044 section 4.4). See crc_insert.md.
#pragma once

#include <cstdint>

#include "model/common/burst.h"
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

class CrcInsert final : public Stage, public RunsAhead {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<FpduBeat> out{*this, "out"};

  CrcInsert(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  Wake tick() override;
  void reset() override;
  void run_ahead() override { tick(); }
  Pledge pledge(const LinkBase&, const void* first, Cycle at) override {
    return pledge_to_pass(*out, next_, first, at);
  }

  void count(const FpduBeat& last) {
    ++(last.crc_on ? counters_.inserted : counters_.left_zero);
  }  // the twin of this stage calls it too
  void describe(const Description& d) override;
  const CrcInsertCounters& counters() const { return counters_; }

 private:
  void seal(const FpduBeat& beat);

  Cycle next_ = 0;                      // one beat per cycle
  const std::uint8_t* fpdu_ = nullptr;  // first octet of the current FPDU, which is contiguous
  CrcInsertCounters counters_;
};

}  // namespace rnic
