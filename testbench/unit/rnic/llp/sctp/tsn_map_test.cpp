#include "model/rnic/llp/sctp/tsn_map.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<std::uint32_t, std::uint32_t>> runs(const TsnMap& map) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (auto run = map.next_run(0); run.start != 0; run = map.next_run(run.end)) all.emplace_back(run.start, run.end);
  return all;
}

TsnMap map_from(std::uint32_t initial, std::uint32_t window = 64) {
  TsnMap map;
  map.start(initial, window);
  return map;
}

TEST(SctpTsnMap, HasNothingAtFirst) {
  const TsnMap map = map_from(1000);
  EXPECT_EQ(map.cumulative(), 999u);
  EXPECT_EQ(map.highest(), 999u);
  EXPECT_FALSE(map.has_gap());
  EXPECT_THAT(runs(map), IsEmpty());
  EXPECT_TRUE(map.has(999));
  EXPECT_FALSE(map.has(1000));
}

TEST(SctpTsnMap, TheWindowIsAsLongAsItSays) {
  TsnMap map = map_from(1000, 128);
  EXPECT_FALSE(map.in_window(999));
  EXPECT_TRUE(map.in_window(1000));
  EXPECT_TRUE(map.in_window(1127));
  EXPECT_FALSE(map.in_window(1128));
  map.add(1127);
  EXPECT_THAT(runs(map), ElementsAre(Pair(128, 128)));
  map.add(1000);
  EXPECT_TRUE(map.in_window(1128));
}

TEST(SctpTsnMap, BeyondTheWindowIsNotWhatSharesItsBit) {
  TsnMap map = map_from(1000, 64);
  map.add(1005);
  EXPECT_TRUE(map.has(1005));
  EXPECT_FALSE(map.has(1005 + 64));
}

TEST(SctpTsnMap, RunsAcrossTheWrapOfTsnsAndOfTheBits) {
  TsnMap map = map_from(0xfffffff0);
  for (std::uint32_t tsn : {0xfffffffeu, 0xffffffffu, 0u, 1u, 0x20u, 0x2fu}) map.add(tsn);
  EXPECT_THAT(runs(map), ElementsAre(Pair(15, 18), Pair(49, 49), Pair(64, 64)));
  for (std::uint32_t tsn = 0xfffffff0; tsn != 0xfffffffe; ++tsn) map.add(tsn);
  EXPECT_EQ(map.cumulative(), 1u);
  EXPECT_THAT(runs(map), ElementsAre(Pair(31, 31), Pair(46, 46)));
}

TEST(SctpTsnMap, AFullWindowClosesAtOnce) {
  TsnMap map = map_from(1, 64);
  for (std::uint32_t tsn = 2; tsn <= 64; ++tsn) map.add(tsn);
  EXPECT_THAT(runs(map), ElementsAre(Pair(2, 64)));
  map.add(1);
  EXPECT_EQ(map.cumulative(), 64u);
  EXPECT_THAT(runs(map), IsEmpty());
  map.add(128);
  EXPECT_THAT(runs(map), ElementsAre(Pair(64, 64)));
}

TEST(SctpTsnMap, ExactlyHalfTheNumbersAwayIsAhead) {
  const TsnMap map = map_from(1000);
  EXPECT_FALSE(map.has(999u + 0x8000'0000u));
  EXPECT_FALSE(map.in_window(999u + 0x8000'0000u));
  EXPECT_TRUE(map.has(999u + 0x8000'0001u));
  EXPECT_FALSE(map.has(999u + 0x7fff'ffffu));
}

TEST(SctpTsnMap, WhatIsGivenUpIsMissingAgain) {
  TsnMap map = map_from(1);
  for (std::uint32_t tsn : {3u, 5u, 6u}) map.add(tsn);
  map.remove(6);
  EXPECT_EQ(map.highest(), 5u);
  map.remove(5);
  EXPECT_EQ(map.highest(), 3u);
  map.remove(3);
  EXPECT_EQ(map.highest(), 0u);
  EXPECT_FALSE(map.has_gap());
  map.add(1);
  EXPECT_EQ(map.cumulative(), 1u);
}

}  // namespace
}  // namespace rnic::sctp
