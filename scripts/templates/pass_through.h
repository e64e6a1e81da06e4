// Hands on each beat as it came, and counts FPDUs. See pass_through.md.
#pragma once

#include <cstdint>

#include "model/common/account.h"
#include "model/common/burst.h"
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

class PassThrough final : public Stage, public RunsAhead {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<FpduBeat> out{*this, "out"};
  Drops drops;

  PassThrough(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  Wake tick() override;
  void reset() override { next_ = 0; }
  void run_ahead() override { tick(); }
  Pledge pledge(const LinkBase&, const void* first, Cycle at) override {
    return pledge_to_pass(*out, next_, first, at);
  }
  void describe(const Description& d) override;
  const PassThroughCounters& counters() const { return counters_; }

  void count(const FpduBeat& last);  // the twin in this place calls it too

 private:
  Cycle next_ = 0;    // a beat a cycle
  Account beats_{0};  // in its pipeline, as of the last call
  PassThroughCounters counters_;
};

}  // namespace rnic
