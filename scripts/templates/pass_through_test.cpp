#include "model/rnic/rx/pass_through.h"

#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class PassThroughTest : public StageTest {
 protected:
  PassThroughConfig cfg;
  BufferPool pool{4096};
  Link<FpduBeat> link_in{"link_in", clk, {8, 1, 1}};
  Link<FpduBeat> link_out{"link_out", clk, LinkConfig::pipeline(cfg)};
  Source<FpduBeat> source{"source", clk};
  Sink<FpduBeat> sink{"sink", clk};
  PassThrough dut{"dut", clk};

  PassThroughTest() {
    source.out(link_in);
    dut.in(link_in);
    dut.out(link_out);
    sink.in(link_out);
  }
};

TEST_F(PassThroughTest, ABeatLeavesPipelineCyclesAfterItEnters) {
  source.script(cut_fpdu(pool, Bytes(3 * 64), 64, false, 0));
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(0, 1, 2));
  const Cycle first = 1 + cfg.pipeline_cycles;  // 1 in the input link
  EXPECT_THAT(sink.cycles(), ElementsAre(first, first + 1, first + 2));
  EXPECT_EQ(dut.counters().fpdus, 1u);
}

TEST_F(PassThroughTest, BackpressureLosesNothingAndReordersNothing) {
  sink.pause(every(4, 3));
  std::vector<const std::uint8_t*> order;
  for (int i = 0; i < 16; ++i) {
    const auto beats = cut_fpdu(pool, Bytes(200), 64, false, 0);
    for (const FpduBeat& b : beats) order.push_back(b.data);
    source.script(beats);
  }
  run_until_idle();
  std::vector<const std::uint8_t*> seen;
  for (const FpduBeat& b : sink.beats()) seen.push_back(b.data);
  EXPECT_EQ(seen, order);
  EXPECT_EQ(dut.counters().fpdus, 16u);
}

}  // namespace
}  // namespace rnic::test
