#include "model/host/free_ranges.h"

#include <gtest/gtest.h>

#include "model/common/check.h"

namespace rnic::host {
namespace {

TEST(FreeRangesTest, NumbersLieTogetherAndNoneIsTakenTwice) {
  FreeRanges free;
  EXPECT_FALSE(free.take(1)) << "nothing is free yet";
  free.give(0, 10);
  EXPECT_EQ(free.take(4), 0u);
  EXPECT_EQ(free.take(4), 4u);
  EXPECT_FALSE(free.take(3));
  EXPECT_EQ(free.take(2), 8u);
  EXPECT_FALSE(free.take(1));
}

TEST(FreeRangesTest, NeighboursThatAreFreeMakeOneRangeWhateverTheOrder) {
  FreeRanges free;
  free.give(0, 4);
  free.give(8, 4);
  EXPECT_FALSE(free.take(5));
  free.give(4, 4);
  EXPECT_EQ(free.take(12), 0u);
  free.give(8, 4);
  free.give(4, 4);
  EXPECT_EQ(free.take(8), 4u);
  free.give(0, 0);
  EXPECT_FALSE(free.take(1));
}

TEST(FreeRangesTest, WhatLiesBeforeAnAlignedRangeStaysFree) {
  FreeRanges free;
  free.give(5, 20);
  EXPECT_FALSE(free.take(10, 16));
  EXPECT_EQ(free.take(8, 8), 8u);
  EXPECT_EQ(free.take(3), 5u);
  EXPECT_EQ(free.take(9), 16u);
  EXPECT_FALSE(free.take(1));
}

TEST(FreeRangesTest, WhatIsFreeCannotBeGivenBack) {
  FreeRanges free;
  free.give(8, 4);
  for (const std::uint64_t first : {5u, 8u, 11u}) EXPECT_THROW(free.give(first, 4), InternalError) << first;
  free.give(4, 4);
  free.give(12, 4);
  EXPECT_EQ(free.take(12), 4u);
}

}  // namespace
}  // namespace rnic::host
