// A foreign block, not the stage's twin, in place of the stage: it may refuse, rest and be busy.
#include "rtl-stubs/verilated/verilated_crc.h"
#include "testbench/cosim/stream_cosim.h"

#include "Vresting_block.h"

namespace rnic::test {
namespace {

using RestingPins = rtl::CrcPins<Vresting_block, CrcCheck>;
constexpr Cycle kRest = 40;  // RestCycles of resting_block.sv
constexpr unsigned kBeatBytes = sizeof(Vresting_block::in_data_i);

class ForeignBlock : public StageTest {
 protected:
  ForeignBlock() : chain("foreign", clk, LinkConfig::pipeline(CrcCheckConfig{})) { chain.rtl.emplace(chain.block); }
  void send_at(Cycle cycle) {
    chain.source.send_at(cycle, cut_fpdu(chain.pool, Bytes(2 * kBeatBytes), kBeatBytes, false, 0));
  }
  // The cycles in which beats arrived, counted from the first one.
  std::vector<Cycle> came() {
    run_until_idle();
    std::vector<Cycle> cycles;
    for (const Cycle c : chain.sink.cycles()) cycles.push_back(c - chain.sink.cycles().front());
    return cycles;
  }
  Chain<CrcCheck, FpduBeat, RestingPins> chain;
};

TEST_F(ForeignBlock, ItsClockRunsWhileItRefusesABeat) {
  send_at(clk.now() + 1);
  send_at(clk.now() + 3);
  EXPECT_EQ(came(), (std::vector<Cycle>{0, 1, 2 + kRest, 3 + kRest}));
}

// Its rest is over when the next FPDU arrives, though nothing moved on its links in the meantime.
TEST_F(ForeignBlock, ItsClockRunsWhileItIsBusy) {
  const Cycle later = kRest + 10;
  send_at(clk.now() + 1);
  send_at(clk.now() + 1 + later);
  EXPECT_EQ(came(), (std::vector<Cycle>{0, 1, later, later + 1}));
}

// It waits for credit that does not come: the calendar stops calling it in the end.
TEST_F(ForeignBlock, ComesToRestWhereNothingGoesOn) {
  constexpr Cycle kPatience = rtl::Twin<RestingPins>::kPatience;
  chain.sink.pause(window(0, 10 * kPatience));
  for (Cycle c = 1; c < 6; ++c) send_at(clk.now() + c);
  const auto run = [&](Cycle cycles) {
    const std::uint64_t before = clk.activity().ticks;
    sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps()));
    return clk.activity().ticks - before;
  };
  run(1000);
  EXPECT_EQ(run(1000), 2000u);  // the block's, and those of the sink, which checks in each cycle
  run(kPatience);
  EXPECT_EQ(run(1000), 1000u);
  EXPECT_EQ(came().size(), 10u);
}

}  // namespace
}  // namespace rnic::test
