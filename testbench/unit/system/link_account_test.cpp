#include "model/system/link_account.h"

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

class LinkAccountTest : public StageTest {
 protected:
  Source<int> source{"source", clk};
  Sink<int> sink{"sink", clk};
  void join(Link<int>& link) {
    source.out(link);
    sink.in(link);
  }
  static void expect(const Account::Totals& t, Cycle cycles, std::uint64_t busy, std::uint64_t blocked) {
    EXPECT_EQ(t.cycles, cycles);
    EXPECT_EQ(t.busy, busy);
    EXPECT_EQ(t.blocked, blocked);
    EXPECT_EQ(t.empty, cycles - busy - blocked);
  }
};

TEST_F(LinkAccountTest, ABeatThatIsTakenAtOnceWaitsForNobody) {
  Link<int> link("link", clk, {4, 3, 1});
  LinkAccount account(link);
  join(link);
  source.send_at(10, {1, 2, 3});  // pushed in 10, 11, 12; taken in 13, 14, 15
  run_until_idle();
  expect(account.until(20).totals(20), 20, 5, 0);
  EXPECT_THAT(account.until(20).cycles_at(), ElementsAre(15, 2, 2, 1, 0));
}

// The beats of clock_domain.md.
TEST_F(LinkAccountTest, AConsumerThatStallsMakesBeatsWait) {
  Link<int> link("link", clk, {2, 1, 1});
  LinkAccount account(link);
  join(link);
  source.send_at(10, {1, 2, 3, 4});
  sink.pause(window(12, 14));
  run_until_idle();
  EXPECT_THAT(source.cycles(), ElementsAre(10, 11, 12, 15));
  EXPECT_THAT(sink.cycles(), ElementsAre(11, 14, 15, 16));
  // On the link from 10 to 15; B is not taken in 12 and 13.
  expect(account.until(30).totals(30), 30, 4, 2);
  // One in 10, 11, 14, 15; two in 12 and 13.
  EXPECT_THAT(account.until(30).cycles_at(), ElementsAre(24, 4, 2));
}

TEST_F(LinkAccountTest, ItMayBeAskedAmidAWait) {
  Link<int> link("link", clk, {2, 1, 1});
  LinkAccount account(link);
  join(link);
  source.send_at(10, {1, 2});
  sink.pause(window(11, 40));
  run_until_idle();
  // Reported afterwards, as by a stage that runs ahead; queried in between.
  for (const Cycle at : {10, 11, 12, 25, 26}) EXPECT_EQ(account.until(at).totals(at).cycles, at);
  EXPECT_EQ(account.until(26).totals(26).blocked, 26 - 11);
  expect(account.until(50).totals(50), 50, 2, 40 - 11);  // the second one is taken a cycle after the first, in 41
}

TEST_F(LinkAccountTest, AResetEmptiesIt) {
  Link<int> link("link", clk, {2, 1, 1});
  LinkAccount account(link);
  join(link);
  source.send_at(10, {1, 2});
  sink.pause(window(0, 1000));
  sc_core::sc_start(sc_core::sc_time::from_value(20 * clk.period_ps()));
  const Cycle end = clk.now();
  link.reset();
  expect(account.until(100).totals(100), 100, 1, end + 1 - 11);
}

}  // namespace
}  // namespace rnic::test
