#include "model/capture/analysis/coverage.h"

#include <vector>

#include <gtest/gtest.h>

#include "model/common/prng.h"

namespace rnic::capture {
namespace {

Stamp at(std::uint64_t frame) { return Stamp({0, frame, frame * 10}, 60, {}); }

TEST(Coverage, AGapIsOpenedByWhatComesFromBeyondItAndShrinks) {
  Coverage coverage(3);
  EXPECT_EQ(coverage.take(0, 10, at(1)).fresh, 10);
  const Arrival beyond = coverage.take(30, 40, at(2));
  EXPECT_TRUE(beyond.is_highest);
  EXPECT_EQ(beyond.fresh, 10);
  ASSERT_NE(coverage.gap_at(10), nullptr);
  EXPECT_EQ(coverage.gap_at(29)->opened.frame, 2u);
  EXPECT_EQ(coverage.gap_at(9), nullptr);
  EXPECT_EQ(coverage.gap_at(30), nullptr);

  const Arrival middle = coverage.take(15, 20, at(3));
  EXPECT_EQ(middle.fresh, 5);
  EXPECT_FALSE(middle.is_gap_closed);
  EXPECT_EQ(middle.gap->begin, 10);
  EXPECT_EQ(middle.gap->end, 30);
  EXPECT_FALSE(coverage.has(14));
  EXPECT_TRUE(coverage.has(15));
  EXPECT_FALSE(coverage.has(20));
  EXPECT_TRUE(coverage.take(5, 16, at(4)).is_gap_closed);
  EXPECT_EQ(coverage.take(0, 40, at(5)).fresh, 10);
  EXPECT_FALSE(coverage.has_gaps());
}

TEST(Coverage, NewsCountForTheGapsBelowThem) {
  Coverage coverage(2);
  coverage.take(10, 20, at(1));
  coverage.take(30, 40, at(2));
  const auto none = [](const Gap&) {};
  coverage.news(20, at(3), none);
  coverage.news(40, at(4), none);
  coverage.news(40, at(5), none);
  EXPECT_EQ(coverage.gap_at(0)->news, 2u);
  EXPECT_EQ(coverage.gap_at(0)->first_news->frame, 3u);
  EXPECT_EQ(coverage.gap_at(0)->last_news->frame, 4u);
  EXPECT_EQ(coverage.gap_at(20)->news, 2u);
  EXPECT_EQ(coverage.gap_at(20)->last_news->frame, 5u);
}

TEST(Coverage, ForgetsWhatIsAcknowledgedAndTellsWhatNeverCame) {
  Coverage coverage(3);
  coverage.take(10, 20, at(1));
  coverage.take(30, 40, at(2));
  const auto forgotten = coverage.forget_below(25);
  EXPECT_EQ(forgotten.octets, 15);
  EXPECT_EQ(forgotten.gaps.size(), 2u);
  EXPECT_TRUE(coverage.has(24));
  EXPECT_FALSE(coverage.has(25));
  EXPECT_EQ(coverage.forget_below(50).octets, 5 + 10);
  EXPECT_EQ(coverage.highest(), 50);
}

TEST(Coverage, IsThatOfAListOfOctetsForAnyOrder) {
  Prng prng(7);
  for (int round = 0; round < 200; ++round) {
    Coverage coverage(3);
    std::vector<bool> has(64);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const auto begin = static_cast<std::int64_t>(prng.below(60)),
                 end = begin + 1 + static_cast<std::int64_t>(prng.below(4));
      std::int64_t fresh = 0;
      for (auto o = static_cast<std::size_t>(begin); o < static_cast<std::size_t>(end); ++o) {
        fresh += !has[o];
        has[o] = true;
      }
      EXPECT_EQ(coverage.take(begin, end, at(i)).fresh, fresh);
      for (std::size_t o = 0; o < has.size(); ++o) EXPECT_EQ(coverage.has(static_cast<std::int64_t>(o)), has[o]);
    }
  }
}

}  // namespace
}  // namespace rnic::capture
