#include "model/rnic/context/word_watch.h"

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

class WordWatchTest : public StageTest {
 protected:
  WordWatch words{clk, 4};
  void cycle() { words.commit(); }
};

TEST_F(WordWatchTest, AWriteCountsFromTheNextCycleOn) {
  words.watch(1, 0x100);
  cycle();
  words.written(0x100, 8);
  EXPECT_FALSE(words.overwritten(1));
  cycle();
  EXPECT_TRUE(words.overwritten(1));
  EXPECT_FALSE(words.overwritten(0));
}
TEST_F(WordWatchTest, AnyOctetOfTheWordCounts) {
  for (std::uint64_t address = 0xf0; address < 0x118; ++address) {
    words.watch(1, 0x100);
    cycle();
    words.written(address, 4);
    cycle();
    EXPECT_EQ(words.overwritten(1), address + 4 > 0x100 && address < 0x108) << address;
  }
}
// The two calls of a cycle may come in any order.
TEST_F(WordWatchTest, AWriteOfTheCycleInWhichAWordIsWatchedComesBeforeIt) {
  for (const bool first : {false, true}) {
    words.watch(3, 0x200);  // another watcher
    cycle();
    if (first) words.written(0x100, 8);
    words.watch(1, 0x100);
    if (!first) words.written(0x100, 8);
    cycle();
    EXPECT_FALSE(words.overwritten(1));
  }
}
TEST_F(WordWatchTest, WhoFollowsTakesOverWhetherTheOlderOneIsOverwritten) {
  words.watch(0, 0x100);
  cycle();
  words.watch(1, 0x100, 0);
  words.written(0x107, 1);
  cycle();
  EXPECT_TRUE(words.overwritten(0));
  EXPECT_TRUE(words.overwritten(1));
  words.watch(2, 0x100, 1);
  cycle();
  EXPECT_TRUE(words.overwritten(2));
}
TEST_F(WordWatchTest, WhatIsReleasedIsNotWatched) {
  words.watch(0, 0x100);
  cycle();
  words.release(0);
  words.written(0x100, 8);
  cycle();
  EXPECT_FALSE(words.overwritten(0));
  words.release(0);
  words.watch(0, 0x108);  // reused in the cycle of its release
  cycle();
  words.written(0x100, 8);
  cycle();
  EXPECT_FALSE(words.overwritten(0));
}

}  // namespace
}  // namespace rnic::test
