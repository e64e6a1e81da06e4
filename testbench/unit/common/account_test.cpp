#include "model/common/account.h"

#include <numeric>

#include <gmock/gmock.h>

namespace rnic::test {
namespace {

using testing::ElementsAre;

struct Expected {
  std::uint64_t cycles, busy, blocked, empty, taken;
};
void expect(const Account::Totals& t, const Expected& e) {
  EXPECT_EQ(t.cycles, e.cycles);
  EXPECT_EQ(t.busy, e.busy);
  EXPECT_EQ(t.blocked, e.blocked);
  EXPECT_EQ(t.empty, e.empty);
  EXPECT_EQ(t.taken, e.taken);
  EXPECT_EQ(t.busy + t.blocked + t.empty, t.cycles);
}

TEST(Account, EveryCycleIsBusyBlockedOrEmpty) {
  Account a(2);
  a.set(10, 1, false);  // 0 to 9 empty
  a.set(13, 2, false);  // 10 to 12: one taken
  a.set(17, 2, true);   // 13 to 16: both
  a.set(20, 1, false);  // 17 to 19: both, and a third request waits
  a.set(25, 0, false);
  expect(a.totals(30), {30, 3 + 4 + 5, 3, 10 + 5, 3 * 1 + 4 * 2 + 3 * 2 + 5 * 1});
  EXPECT_THAT(a.cycles_at(), ElementsAre(15, 8, 7));
}

TEST(Account, OfOneCycleTheLastChangeCounts) {
  Account a(4);
  a.set(5, 3, true);
  a.set(5, 1, false);
  a.set(6, 0, false);
  expect(a.totals(6), {6, 1, 0, 5, 1});
  EXPECT_THAT(a.cycles_at(), ElementsAre(5, 1, 0, 0, 0));
}

TEST(Account, TotalsMayBeTakenBetweenChanges) {
  Account a(1);
  a.set(10, 1, true);
  expect(a.totals(15), {15, 0, 5, 10, 5});
  expect(a.totals(15), {15, 0, 5, 10, 5});
  a.set(20, 0, false);
  expect(a.totals(21), {21, 0, 10, 11, 10});
}

TEST(Account, ACoreIsTakenAheadOfTheClock) {
  Account a(1);
  a.occupy(4, 9);
  expect(a.totals(6), {6, 2, 0, 4, 2});  // not known to have ended
  expect(a.totals(12), {12, 5, 0, 7, 5});
  a.occupy(12, 12);  // took no time
  a.occupy(20, 30);
  a.occupy(30, 31);  // back to back
  expect(a.totals(40), {40, 5 + 11, 0, 24, 16});
}

TEST(Account, TimeDoesNotGoBack) {
  Account a(1);
  a.set(5, 1, false);
  EXPECT_THROW(a.set(4, 0, false), InternalError);
}

TEST(Account, ManyValuesShareABin) {
  Account a(131072);  // octets
  EXPECT_EQ(a.bin_width(), 2048);
  EXPECT_EQ(a.cycles_at().size(), 65);
  a.set(1, 1, false);
  a.set(3, 2048, false);
  a.set(7, 2049, false);
  a.set(10, 131072, false);
  a.set(20, 400000, false);  // more than the limit: several flows
  a.totals(21);
  EXPECT_EQ(a.cycles_at()[0], 1);
  EXPECT_EQ(a.cycles_at()[1], 2 + 4);
  EXPECT_EQ(a.cycles_at()[2], 3);
  EXPECT_EQ(a.cycles_at()[64], 10 + 1);
  EXPECT_EQ(std::accumulate(a.cycles_at().begin(), a.cycles_at().end(), std::uint64_t{0}), 21);
}

TEST(Account, WhatIsKnownLaterIsInTheSumOnly) {
  Account a(2);
  a.set(10, 1, false);
  a.add_taken(7);
  expect(a.totals(20), {20, 10, 0, 10, 10 + 7});
  EXPECT_THAT(a.cycles_at(), ElementsAre(10, 10, 0));
}

TEST(Account, WithoutAKnownCapacityItHasBinsAllTheSame) {
  Account a(0);
  a.set(0, 63, false);
  a.set(5, 1000, false);
  a.totals(9);
  EXPECT_EQ(a.bin_width(), 1);
  EXPECT_EQ(a.cycles_at()[63], 5);
  EXPECT_EQ(a.cycles_at().back(), 4);
}

}  // namespace
}  // namespace rnic::test
