#include "model/rnic/rx/pass_through.h"

#include "testbench/support/fpdu_beats.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

class PassThroughTest : public StageTest {
 protected:
  PassThroughConfig cfg;
  BufferPool pool{4096};
  PassThrough dut{"dut", clk};
  Source<FpduBeat> source = drive(dut.in);
  Sink<FpduBeat> sink = collect(dut.out, LinkConfig::pipeline(cfg));
};

TEST_F(PassThroughTest, ABeatLeavesPipelineCyclesAfterItEnters) {
  source.send(cut_fpdu(pool, Bytes(3 * 64), 64, false, 0));
  run_until_idle();
  EXPECT_EQ(source.cycles(), in_a_row(0, 3));
  EXPECT_EQ(sink.cycles(), in_a_row(kToEnd + cfg.pipeline_cycles, 3));
  EXPECT_EQ(dut.counters().fpdus, 1u);
}

TEST_F(PassThroughTest, BackpressureLosesNothingAndReordersNothing) {
  sink.pause(every(4, 3));
  std::vector<const std::uint8_t*> order;
  for (int i = 0; i < 16; ++i) {
    const auto beats = cut_fpdu(pool, Bytes(200), 64, false, 0);
    for (const FpduBeat& b : beats) order.push_back(b.data);
    source.send(beats);
  }
  run_until_idle();
  std::vector<const std::uint8_t*> seen;
  for (const FpduBeat& b : sink) seen.push_back(b.data);
  EXPECT_EQ(seen, order);
  EXPECT_EQ(dut.counters().fpdus, 16u);
}

}  // namespace
}  // namespace rnic::test
