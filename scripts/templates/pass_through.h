// Hands on each beat as it came, and counts FPDUs. See pass_through.md.
#pragma once

#include <cstdint>

#include "model/common/account.h"
#include "model/common/beat_stage.h"
#include "model/common/drops.h"
#include "model/config/field.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

struct PassThroughConfig {
  unsigned pipeline_cycles = 1;
  template <class V>
  static void fields(V& v) {
    v("pipeline_cycles", &PassThroughConfig::pipeline_cycles, "cycles from a beat's entry to its exit", in_range(1, 32),
      unit("cycles"));
  }
};

struct PassThroughCounters {
  std::uint64_t fpdus = 0;
  template <class V>
  static void fields(V& v) {
    v("fpdus", &PassThroughCounters::fpdus, "FPDUs", "FPDUs handed on");
  }
};

class PassThrough final : public Passes<FpduBeat, PassThrough> {
 public:
  Drops drops;

  PassThrough(sc_core::sc_module_name nm, ClockDomain& clk);

  Wake tick() override;
  void on(const FpduBeat& beat) {
    if (beat.last) count(beat);
  }
  void forget() {}
  void describe(const Description& d) override;
  const PassThroughCounters& counters() const { return counters_; }

  void count(const FpduBeat& last);  // the twin in this place calls it too

 private:
  Account beats_{0};  // in its pipeline, as of the last call
  PassThroughCounters counters_;
};
extern template class Passes<FpduBeat, PassThrough>;

}  // namespace rnic
