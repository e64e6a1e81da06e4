// The twin of ddp_placement judged by its board, by transaction.
#include "rtl-stubs/verilated/verilated_ddp_placement.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/placement_traffic.h"

namespace rnic::test {
namespace {

class DdpPlacementBoard : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  static constexpr Cycle kApart = 200;  // of rounds: longer than messages race

  static ContextStore::Sizes sizes() {
    ContextStore::Sizes s = PlacementTraffic::sizes();
    s.elements.ird = 128;
    return s;
  }
  PlacementBench twin{"twin", clk, sizes()};
  rtl::Twin<rtl::DdpPlacementPins> rtl{twin.block, twin.contexts};
};
TEST_P(DdpPlacementBoard, IsRight) {
  if (!kHasBoards) GTEST_SKIP() << kNoBoards;
  Judge judge(twin.block, "ddp_placement", {64, &twin.contexts});
  Prng rng = seeded(20260140);
  PlacementTraffic traffic(rng);
  traffic.as_in_a_chip();
  twin.run_as(GetParam());
  std::size_t errors = 0;
  for (unsigned round = 0; round < 60; ++round) {
    twin.play_at(clk.now() + kApart, traffic.round());
    run_until_idle(1'000'000);
    errors += twin.events.size();
    twin.clear();
  }
  EXPECT_GT(errors, 50u);
  judge.expect_right(1'000);
}
INSTANTIATE_TEST_SUITE_P(Once, DdpPlacementBoard, kBoth, traffic_name);

}  // namespace
}  // namespace rnic::test
