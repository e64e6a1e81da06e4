#include "model/common/clock_domain.h"

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// Wakes when told and answers what the test says.
class Probe final : public Stage {
 public:
  Probe(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  std::vector<Cycle> calls;
  std::vector<Wake> answers;  // one per call; on_traffic() when they run out
  Wake tick() override {
    calls.push_back(now());
    return calls.size() <= answers.size() ? answers[calls.size() - 1] : Wake::on_traffic();
  }
};

class ClockDomainTest : public StageTest {
 protected:
  Probe probe{"probe", clk};
};

TEST_F(ClockDomainTest, CallsAStageInTheCyclesItAskedForAndNoOther) {
  probe.answers = {Wake::next_cycle(), Wake::at_cycle(10), Wake::at_cycle(1000), Wake::next_cycle()};
  probe.wake(3);
  run_until_idle();
  EXPECT_THAT(probe.calls, ElementsAre(3, 4, 10, 1000, 1001));
}

TEST_F(ClockDomainTest, CycleZeroExistsAndTheLastNearSlotIsNotMistakenForTheFirst) {
  probe.answers = {Wake::at_cycle(64), Wake::at_cycle(128), Wake::at_cycle(193)};  // 1 + 63, 65 + 63, 129 + 64
  probe.wake(0);
  run_until_idle();
  EXPECT_THAT(probe.calls, ElementsAre(0, 64, 128, 193));
}

TEST_F(ClockDomainTest, SeveralWakeUpsInOneCycleAreOneCall) {
  for (int i = 0; i < 3; ++i) probe.wake(5), probe.wake(500);
  run_until_idle();
  EXPECT_THAT(probe.calls, ElementsAre(5, 500));
}

TEST_F(ClockDomainTest, AnEarlierCallReplacesWhatTheStageAskedForBefore) {
  probe.answers = {Wake::at_cycle(1000), Wake::at_cycle(700)};
  probe.wake(1);
  probe.wake(600);
  run_until_idle();
  EXPECT_THAT(probe.calls, ElementsAre(1, 600, 700));
}

// The program ends with exit code 4 on any exception that is not the user's fault.
TEST_F(ClockDomainTest, ABugOfAStageStopsTheRunWithItsText) {
  class Broken final : public Stage {
   public:
    using Stage::Stage;
    Wake tick() override {
      RNIC_CHECK_MSG(now() != 7, "the seventh cycle");
      return Wake::next_cycle();
    }
  } broken("broken", clk);
  broken.wake(1);
  try {
    run_until_idle();
    FAIL() << "the run went on";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("internal error: now() != 7 does not hold"),
                                         testing::HasSubstr("the seventh cycle")));
  }
}

TEST_F(ClockDomainTest, IdleCostsNoKernelEvent) {
  probe.answers = {Wake::at_cycle(250'000'000)};  // one simulated second at 250 MHz
  probe.wake(1);
  run_until_idle(300'000'000);
  EXPECT_THAT(probe.calls, ElementsAre(1, 250'000'000));
  EXPECT_EQ(clk.activity().activations, 2u);
  EXPECT_EQ(clk.activity().cycles, 2u);
  EXPECT_EQ(clk.activity().ticks, 2u);
}

TEST_F(ClockDomainTest, ALookaheadWindowIsOneKernelEvent) {
  clk.set_lookahead(32);
  for (Cycle c = 0; c < 64; ++c) probe.answers.push_back(Wake::next_cycle());
  probe.wake(0);
  run_until_idle();
  EXPECT_EQ(probe.calls.size(), 65u);
  EXPECT_EQ(clk.activity().activations, 3u);  // 0..31, 32..63, 64
}

TEST_F(ClockDomainTest, WakingAnExecutedCycleIsABug) {
  probe.wake(10);
  run_until_idle();
  EXPECT_THROW(probe.wake(10), InternalError);
  EXPECT_NO_THROW(probe.wake(11));
}

TEST_F(ClockDomainTest, RegisteredStateChangesBetweenCycles) {
  class Writer final : public Stage {
   public:
    Writer(sc_core::sc_module_name nm, ClockDomain& c) : Stage(nm, c), reg(c, 7) {}
    Registered<int> reg;
    std::vector<int> seen;
    Wake tick() override {
      seen.push_back(reg.get());
      reg.set(static_cast<int>(now()) + 100);
      seen.push_back(reg.get());
      return now() < 2 ? Wake::next_cycle() : Wake::on_traffic();
    }
  } writer("writer", clk);
  writer.wake(0);
  run_until_idle();
  EXPECT_THAT(writer.seen, ElementsAre(7, 7, 100, 100, 101, 101));
}

TEST_F(ClockDomainTest, ShuffleCallsEveryAwakeStageOnceACycle) {
  Probe second{"second", clk}, third{"third", clk};
  clk.shuffle(99);
  for (Probe* p : {&probe, &second, &third}) {
    p->answers = {Wake::next_cycle(), Wake::next_cycle()};
    p->wake(4);
  }
  run_until_idle();
  for (Probe* p : {&probe, &second, &third}) EXPECT_THAT(p->calls, ElementsAre(4, 5, 6));
}

}  // namespace
}  // namespace rnic::test
