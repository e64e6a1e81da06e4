#include "model/host/driver/page_table.h"

#include <gtest/gtest.h>

namespace rnic::host {
namespace {

TEST(PageTableTest, EntriesOfARegionLieTogetherAndNoneIsGivenTwice) {
  PageTable t;
  EXPECT_FALSE(t.take(1)) << "a device without a table";
  t.resize(10);
  EXPECT_EQ(t.take(4), 0u);
  EXPECT_EQ(t.take(4), 4u);
  EXPECT_FALSE(t.take(3));
  EXPECT_EQ(t.take(2), 8u);
  EXPECT_FALSE(t.take(1));
}
TEST(PageTableTest, NeighboursThatAreFreeMakeOneRangeWhateverTheOrder) {
  PageTable t;
  t.resize(12);
  for (int i = 0; i < 3; ++i) t.take(4);
  t.give_back(0, 4);
  t.give_back(8, 4);
  EXPECT_FALSE(t.take(5));
  t.give_back(4, 4);
  EXPECT_EQ(t.take(12), 0u);
  t.give_back(8, 4);
  t.give_back(4, 4);
  EXPECT_EQ(t.take(8), 4u);
  t.give_back(0, 0);
  EXPECT_FALSE(t.take(1));
}

}  // namespace
}  // namespace rnic::host
