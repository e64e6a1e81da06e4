#include "model/why/spans.h"

#include <gmock/gmock.h>

#include "model/why/state.h"

namespace rnic::why {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(SpansTest, CountOnlyWhatIsWithin) {
  Spans spans;
  spans.add(10, 20);
  spans.add(30, 40);
  EXPECT_EQ(spans.within(0, 100), 20u);
  EXPECT_EQ(spans.within(15, 35), 10u);
  EXPECT_EQ(spans.within(20, 30), 0u);
}

TEST(SpansTest, DoNotCountTheSameTimeTwice) {
  Spans spans;
  spans.add(10, 20);
  spans.add(15, 25);
  EXPECT_EQ(spans.within(0, 100), 15u);
}

TEST(SpansTest, InBothIsWhatTheyShare) {
  Spans a, b;
  a.add(0, 10), a.add(20, 30);
  b.add(5, 25), b.add(28, 40);
  EXPECT_EQ(a.in_both(b).within(0, 100), 12u);
}

TEST(AtLeastTest, CountsFromTheChangeThatReachesTheLimitToTheOneThatLeavesIt) {
  AtLeast two(0, 2);
  two.change(10, 1), two.change(20, 1), two.change(30, 1), two.change(40, -1), two.change(50, -1), two.change(60, 1);
  EXPECT_EQ(std::move(two).until(65).within(0, 100), 35u);
}

TEST(AtLeastTest, WhatWasThereBeforeCounts) {
  AtLeast one(1, 1);
  one.change(10, -1);
  EXPECT_EQ(std::move(one).until(100).within(0, 100), 10u);
}

TEST(StateTest, NumbersOfWindows) {
  EXPECT_THAT(
      state_of("peer's window used up: 8000 octets in flight, congestion window 131400, peer's window 8192"),
      ElementsAre(Pair("octets_in_flight", 8000u), Pair("congestion_window", 131400u), Pair("peer_window", 8192u)));
  EXPECT_THAT(state_of("timeout: congestion window 131400 to 1460"),
              ElementsAre(Pair("congestion_window_before", 131400u), Pair("congestion_window", 1460u)));
  EXPECT_THAT(state_of("frame 3 to b"), IsEmpty());
}

}  // namespace
}  // namespace rnic::why
