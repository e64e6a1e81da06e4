// The parts that a test of one stage needs: a clock, ends for its ports, and a run that must end.
#pragma once

#include <gmock/gmock.h>

#include "model/ends/ends.h"

namespace rnic::test {

class StageTest : public testing::Test {
 protected:
  // Runs until all stages are idle; a run that does not end is a failure.
  void run_until_idle(Cycle limit = 10'000'000) {
    sc_core::sc_start(sc_core::sc_time::from_value(limit * clk.period_ps()), sc_core::SC_EXIT_ON_STARVATION);
    ASSERT_FALSE(sc_core::sc_pending_activity()) << "still busy after " << limit << " cycles";
  }
  ClockDomain clk{"clk", {}};
};

}  // namespace rnic::test
