#include "model/diff/merge.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "model/diff/around.h"
#include "testbench/unit/diff/told_events.h"

namespace rnic::diff::test {
namespace {

using Kind = Difference::Kind;

// Requests 0 to `requests` - 1, each in three steps at places p0 to p2, 10 ps apart and 100 ps after the one before.
std::vector<Line> steady(unsigned requests) {
  std::vector<Line> lines;
  for (unsigned r = 0; r < requests; ++r) {
    for (unsigned step = 0; step < 3; ++step) {
      lines.push_back({100 * r + 10 * step, std::to_string(r), "p" + std::to_string(step), "done", 7, 0});
    }
  }
  return lines;
}

class MergeTest : public testing::Test {
 protected:
  void compare(std::vector<Line> a, std::vector<Line> b, Cut cut = {}) {
    a_ = std::make_unique<ToldEvents>(std::move(a), vocabulary_, 0);
    b_ = std::make_unique<ToldEvents>(std::move(b), vocabulary_, 1);
    const Pair runs{*a_, *b_};
    what_ = what_differs(runs, digest(*a_, filter_), digest(*b_, filter_), filter_, cut);
    when_ = time_differs(runs, filter_, UINT64_MAX);
  }
  Surroundings surroundings(const Difference& difference) { return around({*a_, *b_}, difference, filter_); }

  Vocabulary vocabulary_;
  OwnerSums without_;
  const Filter filter_{vocabulary_, without_};
  std::unique_ptr<ToldEvents> a_, b_;
  WhatDiffers what_;
  std::optional<Difference> when_;
};

TEST_F(MergeTest, EqualRunsDoNotDiffer) {
  compare(steady(3000), steady(3000));
  EXPECT_FALSE(what_.row || what_.order || when_);
}

TEST_F(MergeTest, ARowThatOneRunLacks) {
  const std::vector<Line> all = steady(3000);
  std::vector<Line> fewer = all;
  fewer.erase(fewer.begin() + 4501);  // request 1500 at p1
  compare(all, fewer);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->kind, Kind::kOnly);
  EXPECT_EQ(what_.row->ps, 150'010u);
  EXPECT_FALSE(what_.row->b);
  compare(fewer, all);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->ps, 150'010u);
  EXPECT_FALSE(what_.row->a);
  EXPECT_EQ(what_.row->b->ps, 150'010u);
}

TEST_F(MergeTest, TheEarliestOfManyRows) {
  std::vector<Line> b = steady(3000);
  for (const std::ptrdiff_t i : {7500, 6000, 4500}) b.erase(b.begin() + i);
  compare(steady(3000), b);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->ps, 150'000u);
}

TEST_F(MergeTest, ALaterRunHasTheSameRows) {
  std::vector<Line> late = steady(3000);
  for (Line& line : late) line.ps = 2 * line.ps + 5;
  compare(steady(3000), late);
  EXPECT_FALSE(what_.row || what_.order);
  ASSERT_TRUE(when_);
  EXPECT_EQ(when_->a->ps, 0u);
  EXPECT_EQ(when_->b->ps, 5u);
}

TEST_F(MergeTest, ALostRowOfALaterRun) {
  std::vector<Line> late = steady(3000);
  for (Line& line : late) line.ps *= 2;
  late.erase(late.begin() + 4501);
  compare(steady(3000), late);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->kind, Kind::kOnly);
  EXPECT_EQ(what_.row->ps, 150'010u);
}

TEST_F(MergeTest, TheFirstTimeThatDiffers) {
  std::vector<Line> b = steady(3000);
  b[4502].ps += 3;
  compare(steady(3000), b);
  EXPECT_FALSE(what_.row || what_.order);
  ASSERT_TRUE(when_);
  EXPECT_EQ(when_->kind, Kind::kTime);
  EXPECT_EQ(when_->ps, 150'020u);
}

TEST_F(MergeTest, ARowThatSaysSomethingElse) {
  std::vector<Line> b = steady(3000);
  b[4502].content = 8;
  compare(steady(3000), b);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->kind, Kind::kContent);
  EXPECT_EQ(what_.row->a->content, 7u);
  EXPECT_EQ(what_.row->b->content, 8u);
}

TEST_F(MergeTest, OffsetsAreKeptApart) {
  std::vector<Line> a = {{0, "0", "p", "sent", 7, 1}, {10, "0", "p", "sent", 7, 2}, {20, "0", "p", "sent", 9, 3}};
  std::vector<Line> b = a;
  b.erase(b.begin() + 1);
  compare(a, b);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->kind, Kind::kOnly);
  EXPECT_EQ(what_.row->a->offset, 2u);
}

TEST_F(MergeTest, AnotherOrderAtAPlace) {
  std::vector<Line> b = steady(3000);
  std::swap(b[4500].request, b[4503].request);  // requests 1500 and 1501 at p0
  compare(steady(3000), b);
  EXPECT_FALSE(what_.row);
  ASSERT_TRUE(what_.order);
  EXPECT_EQ(what_.order->kind, Kind::kOrder);
  EXPECT_EQ(what_.order->ps, 150'000u);
  EXPECT_FALSE(when_);
}

TEST_F(MergeTest, AnotherOrderAcrossPlacesIsOneOfTimes) {
  std::vector<Line> a = {{0, "0", "p", "x", 0, 0}, {10, "0", "q", "x", 0, 0}};
  compare(a, {{5, "0", "q", "x", 0, 0}, {7, "0", "p", "x", 0, 0}});
  EXPECT_FALSE(what_.row || what_.order);
  ASSERT_TRUE(when_);
  EXPECT_EQ(when_->b->ps, 7u);
}

TEST_F(MergeTest, WhatACutRunLacksIsNoDifference) {
  std::vector<Line> b = steady(3000);
  b.resize(4501);
  compare(steady(3000), b, {false, true});
  EXPECT_FALSE(what_.row || what_.order || when_);
  compare(steady(3000), b);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->ps, 150'010u);
}

TEST_F(MergeTest, RowsOfNoRequestAreCompared) {
  std::vector<Line> a = steady(100), b = a;
  b.insert(b.begin() + 30, {1000, "", "cable", "lost", 1, 0});
  compare(a, b);
  ASSERT_TRUE(what_.row);
  EXPECT_EQ(what_.row->b->content, 1u);
}

TEST_F(MergeTest, WhatIsLeftOutIsNotCompared) {
  std::vector<Line> b = steady(100);
  b.push_back({20'000, "3", "new_block", "done", 0, 0});
  b.push_back({20'010, "500", "p0", "done", 0, 0});
  vocabulary_.sources()[vocabulary_.source("a", "new_block", "done", 1)].left_out = true;
  without_[owner_of(hash("500"), true)] = 1;
  compare(steady(100), b);
  EXPECT_FALSE(what_.row || what_.order || when_);
}

TEST_F(MergeTest, ThreeRowsBeforeAndAfter) {
  std::vector<Line> a, b;
  for (unsigned i = 0; i < 20; ++i) {
    a.push_back({10 * i, "0", "p", "sent", i, i});
    if (i != 10) b.push_back(a.back());
  }
  compare(a, b);
  ASSERT_TRUE(what_.row);
  const std::vector<Beside> rows = surroundings(*what_.row).of_request;
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_TRUE(rows[3].is_difference);
  EXPECT_EQ(rows[2].a->words, rows[2].b->words);
  EXPECT_EQ(rows[3].a->words, "10");
  EXPECT_EQ(rows[3].b->words, "11");
  EXPECT_EQ(rows[6].a->words, "13");
}

TEST_F(MergeTest, NoRowsWhereARunHasNone) {
  compare({{0, "0", "p", "sent", 0, 0}, {10, "0", "p", "lost", 0, 0}}, {{0, "0", "p", "sent", 0, 0}});
  ASSERT_TRUE(what_.row);
  const std::vector<Beside> rows = surroundings(*what_.row).of_place;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[1].a && !rows[1].b);
}

}  // namespace
}  // namespace rnic::diff::test
