
#include "model/common/clock_group.h"
#include "model/common/kernel_time.h"
#include "model/common/registered.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// Wakes on request and returns the test's answers.
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

// State that goes on for some cycles, of which no stage is called in all but the first.
struct GoesOn final : Committed {
  explicit GoesOn(ClockDomain& c) : clk(c) {}
  void commit() override {
    cycles.push_back(clk.now());
    if (cycles.size() % 3 != 0) clk.commit_later(*this);
  }
  ClockDomain& clk;
  std::vector<Cycle> cycles;
};

TEST_F(ClockDomainTest, WhatCommitsAnewDoesSoInTheNextCycleAlsoAlone) {
  class Starter final : public Stage {
   public:
    Starter(sc_core::sc_module_name nm, ClockDomain& c) : Stage(nm, c), state(c), also(c, 0) {}
    GoesOn state;
    Registered<int> also;
    Wake tick() override {
      also.set(1);
      clock().commit_later(state);
      return now() == 5 ? Wake::at_cycle(100) : Wake::on_traffic();
    }
  } starter("starter", clk);
  starter.wake(5);
  run_until_idle();
  EXPECT_THAT(starter.state.cycles, ElementsAre(5, 6, 7, 100, 101, 102));
  EXPECT_EQ(clk.activity().cycles, 6u);
  EXPECT_EQ(clk.activity().ticks, 2u);
}

// As if it were a stage's cycle: in the same call by the kernel, or the next one.
TEST_F(ClockDomainTest, ACycleOfCommitsAloneMayBeBeyondTheLookahead) {
  GoesOn state(clk);
  clk.set_lookahead(2);
  clk.commit_later(state);
  probe.wake(7);
  run_until_idle();
  EXPECT_THAT(state.cycles, ElementsAre(7, 8, 9));
  EXPECT_EQ(clk.activity().activations, 2u);
  EXPECT_FALSE(clk.is_calling());
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

// ---- Clocks of a group

// Two clocks with different periods, and another process that the kernel calls at 1 us.
class ClockGroupTest : public testing::Test {
 protected:
  struct Other final : sc_core::sc_module {
    SC_HAS_PROCESS(Other);
    explicit Other(sc_core::sc_module_name nm, ClockGroupTest& test) : sc_module(nm), test_(test) {
      SC_METHOD(look);
      sensitive << event;
      dont_initialize();
    }
    void look() { test_.seen.emplace_back(kernel_time_ps(), test_.slow_probe.calls.size()); }
    sc_core::sc_event event;
    ClockGroupTest& test_;
  };
  ClockDomain slow{"slow", {4000, 10}}, fast{"fast", {1000, 10}};
  ClockGroup group{"group"};
  Probe slow_probe{"slow_probe", slow}, fast_probe{"fast_probe", fast};
  std::vector<std::pair<std::uint64_t, std::size_t>> seen;  // by the other process: time, and calls of `slow`
  Other other{"other", *this};

  void keep_busy(Probe& probe, std::size_t cycles) {
    probe.answers.assign(cycles, Wake::next_cycle());
    probe.wake(0);
  }
  std::uint64_t kernel_events() const { return slow.activity().kernel_events + fast.activity().kernel_events; }
};

TEST_F(ClockGroupTest, OneKernelEventServesBothUntilSomebodyLooks) {
  group.add(slow);
  group.add(fast);
  keep_busy(slow_probe, 500);
  keep_busy(fast_probe, 2000);
  group.run_until(1'000'000);
  EXPECT_EQ(kernel_events(), 1u);
  EXPECT_EQ(slow_probe.calls.size(), 250u);
  EXPECT_EQ(fast_probe.calls.size(), 1000u);
  group.run_until(3'000'000);
  EXPECT_EQ(kernel_events(), 2u);
  EXPECT_EQ(slow_probe.calls.size(), 501u);
  EXPECT_EQ(fast_probe.calls.size(), 2001u);
  EXPECT_EQ(slow.activity().activations, 51u);  // as many as the kernel would have made
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(ClockGroupTest, SomebodyElseIsCalledAtItsTime) {
  group.add(slow);
  group.add(fast);
  keep_busy(slow_probe, 500);
  keep_busy(fast_probe, 2000);
  other.event.notify(sc_core::sc_time::from_value(1'000'000));
  group.run_until(3'000'000);
  EXPECT_THAT(seen, ElementsAre(std::pair(std::uint64_t{1'000'000}, std::size_t{250})));
  EXPECT_EQ(kernel_events(), 2u);
}

TEST_F(ClockGroupTest, WithoutATimeEachCallIsAKernelEvent) {
  group.add(slow);
  keep_busy(slow_probe, 499);
  sc_core::sc_start(3, sc_core::SC_US);
  EXPECT_EQ(slow_probe.calls.size(), 500u);
  EXPECT_EQ(kernel_events(), 50u);
}

}  // namespace
}  // namespace rnic::test
