#include "model/common/timer_wheel.h"

#include <set>
#include <utility>

#include <gmock/gmock.h>

#include "model/common/prng.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> all_expired(TimerWheel& wheel, Cycle now) {
  std::vector<std::uint32_t> numbers;
  while (wheel.due(now)) numbers.push_back(wheel.take());
  return numbers;
}

TEST(TimerWheel, ExpireInTheOrderOfTheirCyclesThenOfTheirNumbers) {
  TimerWheel wheel(4);
  EXPECT_EQ(wheel.next(), kNever);
  wheel.start(2, 10);
  wheel.start(1, 10);
  wheel.start(3, 5);
  EXPECT_EQ(wheel.next(), 5u);
  EXPECT_FALSE(wheel.due(4));
  EXPECT_TRUE(wheel.due(5));
  EXPECT_TRUE(wheel.running(3));
  EXPECT_THAT(all_expired(wheel, 5), ElementsAre(3));
  EXPECT_FALSE(wheel.running(3));
  EXPECT_EQ(wheel.next(), 10u);
  EXPECT_THAT(all_expired(wheel, 10), ElementsAre(1, 2));
  EXPECT_EQ(wheel.next(), kNever);
}

TEST(TimerWheel, AskedLateTheOrderIsTheSame) {
  TimerWheel wheel(4);
  wheel.start(0, 300);
  wheel.start(3, 20'000);
  wheel.start(2, 20'000);
  wheel.start(1, 70'000'000);
  EXPECT_THAT(all_expired(wheel, 100'000'000), ElementsAre(0, 2, 3, 1));
}

TEST(TimerWheel, APostponedTimerExpiresAtItsLastDeadline) {
  TimerWheel wheel(2);
  wheel.start(0, 10);
  wheel.start(0, 1000);
  wheel.start(1, 100);
  EXPECT_EQ(wheel.next(), 10u);  // its place stays
  EXPECT_THAT(all_expired(wheel, 10), IsEmpty());
  EXPECT_THAT(all_expired(wheel, 100), ElementsAre(1));
  EXPECT_THAT(all_expired(wheel, 999), IsEmpty());
  EXPECT_THAT(all_expired(wheel, 1000), ElementsAre(0));
}

TEST(TimerWheel, ATimerStartedForAnEarlierCycleExpiresThen) {
  TimerWheel wheel(1);
  wheel.start(0, 100'000);
  wheel.start(0, 50);
  EXPECT_EQ(wheel.next(), 50u);
  EXPECT_THAT(all_expired(wheel, 50), ElementsAre(0));
  EXPECT_EQ(wheel.next(), kNever);
}

TEST(TimerWheel, ACancelledTimerLeavesNothingToAskFor) {
  TimerWheel wheel(2);
  wheel.start(0, 100);
  wheel.start(1, 200);
  wheel.cancel(0);
  EXPECT_EQ(wheel.next(), 200u);
  EXPECT_EQ(wheel.running(), 1u);
  wheel.stop(1);
  EXPECT_EQ(wheel.running(), 0u);
  EXPECT_THAT(all_expired(wheel, 1000), IsEmpty());
  EXPECT_EQ(wheel.next(), kNever);
  wheel.cancel(0);
  EXPECT_EQ(wheel.next(), kNever);
}

TEST(TimerWheel, OneThatHasExpiredMayBeRestartedOrStoppedBeforeItIsTaken) {
  TimerWheel wheel(4);
  for (std::uint32_t n = 0; n < 4; ++n) wheel.start(n, 10);
  EXPECT_TRUE(wheel.due(10));
  wheel.start(0, 20);
  wheel.stop(1);
  wheel.start(2, 10);
  EXPECT_THAT(all_expired(wheel, 10), ElementsAre(2, 3));
  EXPECT_THAT(all_expired(wheel, 20), ElementsAre(0));
}

TEST(TimerWheel, OneStartedForAPastCycleExpiresInItsTurn) {
  TimerWheel wheel(5);
  for (const std::uint32_t n : {1u, 3u}) wheel.start(n, 10);
  EXPECT_TRUE(wheel.due(10));
  wheel.start(2, 10);
  wheel.start(4, 9);
  EXPECT_EQ(wheel.next(), 9u);
  EXPECT_THAT(all_expired(wheel, 10), ElementsAre(4, 1, 2, 3));
}

TEST(TimerWheel, ClearedNoneRuns) {
  TimerWheel wheel(3);
  for (std::uint32_t n = 0; n < 3; ++n) wheel.start(n, 100 + 1000 * n);
  wheel.clear();
  EXPECT_EQ(wheel.running(), 0u);
  EXPECT_EQ(wheel.next(), kNever);
  EXPECT_EQ(wheel.size(), 3u);
}

// How often the owner of a timer is called for nothing: once for each wheel on the way.
TEST(TimerWheel, ALongTimerIsLookedAtOncePerWheel) {
  TimerWheel wheel(1);
  wheel.due(77);
  wheel.start(0, 40'000'001);
  unsigned looks = 0;
  Cycle last = 0;
  while (wheel.next() != kNever) {
    ++looks;
    last = wheel.next();
    if (wheel.due(last)) break;
  }
  EXPECT_EQ(wheel.take(), 0u);
  EXPECT_EQ(last, 40'000'001u);
  EXPECT_EQ(looks, 4u);
}

// ---- Against a sorted list

struct Mix {
  const char* name;
  Cycle reach;     // deadlines, from now on
  unsigned every;  // cycles from one step to the next, at most
  bool at_next;    // asked when next() says; otherwise when a step comes
};
std::ostream& operator<<(std::ostream& out, const Mix& mix) { return out << mix.name; }

class TimerWheelMixes : public testing::TestWithParam<Mix> {
 protected:
  static constexpr std::uint32_t kTimers = 40;
  void start(std::uint32_t number, Cycle at) {
    cancel_in_list(number);
    list.insert({deadlines[number] = at, number});
    wheel.start(number, at);
  }
  void cancel_in_list(std::uint32_t number) {
    list.erase({deadlines[number], number});
    deadlines[number] = kNever;
  }
  // Some or all of what has expired.
  void expire(Cycle now, bool all) {
    while (!list.empty() && list.begin()->first <= now) {
      const std::uint32_t number = list.begin()->second;
      ASSERT_TRUE(wheel.due(now)) << "in cycle " << now;
      ASSERT_EQ(wheel.take(), number) << "in cycle " << now;
      cancel_in_list(number);
      ++expirations;
      if (!all) return;
    }
    ASSERT_FALSE(wheel.due(now)) << "in cycle " << now;
  }
  void act(Prng& prng, Cycle now, Cycle reach) {
    const auto number = static_cast<std::uint32_t>(prng.below(kTimers));
    switch (prng.below(8)) {
      case 0:
        cancel_in_list(number);
        return wheel.stop(number);
      case 1:
        cancel_in_list(number);
        return wheel.cancel(number);
      case 2:
        return start(number, now + prng.below(3));
      default:
        return start(number, now + 1 + prng.below(prng.below(2) == 0 ? reach : reach / 100 + 1));
    }
  }
  TimerWheel wheel{kTimers};
  std::set<std::pair<Cycle, std::uint32_t>> list;
  std::vector<Cycle> deadlines = std::vector<Cycle>(kTimers, kNever);
  unsigned expirations = 0;
};

TEST_P(TimerWheelMixes, AgreeWithASortedList) {
  const Mix& mix = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Prng prng(seed);
    const bool all = seed != 3;
    Cycle now = 0;
    wheel.clear();
    list.clear();
    deadlines.assign(kTimers, kNever);
    for (unsigned step = 0; step < 20'000; ++step) {
      const Cycle then = now + 1 + prng.below(mix.every);
      while (mix.at_next && wheel.next() < then) {
        if (!list.empty()) {
          ASSERT_LE(wheel.next(), list.begin()->first);
        }
        now = std::max(now, wheel.next());
        expire(now, all);
        if (HasFatalFailure()) return;
      }
      now = std::max(now, then);
      expire(now, all);
      if (HasFatalFailure()) return;
      act(prng, now, mix.reach);
      for (std::uint32_t n = 0; n < kTimers; ++n) ASSERT_EQ(wheel.running(n), deadlines[n] != kNever);
    }
  }
  EXPECT_GT(expirations, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Of, TimerWheelMixes,
                         testing::Values(Mix{"EachCycle", 200, 1, false}, Mix{"FirstWheel", 250, 20, true},
                                         Mix{"SecondWheel", 10'000, 500, true}, Mix{"Late", 10'000, 500, false},
                                         Mix{"ThirdWheel", 900'000, 40'000, true},
                                         Mix{"LastWheel", 60'000'000, 2'000'000, true},
                                         Mix{"BeyondAll", 400'000'000, 30'000'000, true},
                                         Mix{"LateBeyondAll", 400'000'000, 30'000'000, false}));

}  // namespace
}  // namespace rnic::test
