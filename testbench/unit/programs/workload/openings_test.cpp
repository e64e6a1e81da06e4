#include "model/programs/workload/openings.h"

#include <gmock/gmock.h>

namespace rnic::workload {
namespace {

using testing::ElementsAre;

// Connections between nodes, each with so many queue pairs.
struct Link {
  unsigned from, to, qps;
};
Plan plan_of(std::initializer_list<Link> links, std::uint32_t batch = 0) {
  Plan plan;
  plan.setup.batch = batch;
  for (const Link& l : links) {
    ConnectionSpec c;
    c.from = l.from;
    c.to = l.to;
    c.qps = l.qps;
    plan.connections.push_back(c);
  }
  return plan;
}
std::vector<std::uint64_t> setups(const Plan& plan, const std::vector<std::uint32_t>& most) {
  const std::vector<std::uint32_t> batch = batches(plan, most);
  std::vector<std::uint64_t> at;
  for (std::size_t n = 0; n < most.size(); ++n) at.push_back(setups_at(plan, n, batch));
  return at;
}

TEST(Batches, WhatFitsIsOpenedAtOnce) {
  EXPECT_THAT(setups(plan_of({{0, 1, 40}, {1, 0, 24}}), {64, 64}), ElementsAre(64, 64));
}
TEST(Batches, OneWayTheSmallerRoomCounts) {
  const Plan plan = plan_of({{0, 1, 1000}});
  EXPECT_EQ(batches(plan, {64, 8})[0], 8u);
  EXPECT_EQ(batches(plan, {6, 8})[0], 6u);
}
TEST(Batches, TheRoomOfANodeIsSharedByThoseThatOpenConnectionsAtIt) {
  EXPECT_THAT(batches(plan_of({{0, 1, 1000}, {1, 0, 1000}}), {64, 64}), ElementsAre(32, 32));
  // Node 1 is reached by two nodes and opens connections itself.
  const Plan plan = plan_of({{0, 1, 500}, {2, 1, 500}, {1, 2, 500}});
  EXPECT_THAT(batches(plan, {64, 30, 64}), ElementsAre(10, 10, 10));
  EXPECT_THAT(setups(plan, {64, 30, 64}), ElementsAre(10, 30, 20));
}
TEST(Batches, NeverFewerThanOne) { EXPECT_THAT(batches(plan_of({{0, 1, 9}, {1, 0, 9}}), {1, 1}), ElementsAre(1, 1)); }
TEST(Batches, AGivenOneCountsForEachNode) {
  EXPECT_THAT(setups(plan_of({{0, 1, 100}, {1, 0, 5}}, 10), {64, 64}), ElementsAre(15, 15));
}

struct Admitted {
  std::vector<std::size_t> numbers;
  std::vector<std::uint64_t> times;
  void operator()(std::size_t number, std::uint64_t at_ps) {
    numbers.push_back(number);
    times.push_back(at_ps);
  }
};

TEST(Opening, KeepsABatchOpenInOrder) {
  Opening opening(3, 0);
  Admitted admitted;
  opening.begin(5, 1000, admitted);
  EXPECT_THAT(admitted.numbers, ElementsAre(0, 1, 2));
  opening.finish(1700, admitted);
  opening.finish(1700, admitted);
  opening.finish(1900, admitted);  // none is left
  EXPECT_THAT(admitted.numbers, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(admitted.times, ElementsAre(1000, 1000, 1000, 1700, 1700));
}
TEST(Opening, KeepsItsRate) {
  Opening opening(2, 400);
  Admitted admitted;
  opening.begin(4, 1000, admitted);
  opening.finish(1500, admitted);
  opening.finish(5000, admitted);
  EXPECT_THAT(admitted.times, ElementsAre(1000, 1400, 1800, 5000));
}
TEST(Opening, HasNothingToOpen) {
  Opening opening(2, 400);
  Admitted admitted;
  opening.begin(0, 1000, admitted);
  opening.finish(1500, admitted);
  EXPECT_TRUE(admitted.numbers.empty());
}

}  // namespace
}  // namespace rnic::workload
