#include "model/common/inbox.h"

#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

class Receiver final : public Stage {
 public:
  Receiver(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  Inbox<int> inbox{*this};
  std::vector<std::pair<Cycle, int>> got;
  Wake tick() override {
    while (inbox.can_pop()) got.emplace_back(now(), inbox.pop());
    return Wake::on_traffic();
  }
};

class InboxTest : public StageTest {
 protected:
  Receiver receiver{"receiver", clk};  // 4000 ps a cycle
};

TEST_F(InboxTest, AnArrivalIsSeenAtTheFirstEdgeNotBeforeIt) {
  receiver.inbox.deliver(1, 0);
  receiver.inbox.deliver(2, 1);
  receiver.inbox.deliver(3, 4000);
  receiver.inbox.deliver(4, 4001);
  receiver.inbox.deliver(5, 400'000'000);
  run_until_idle();
  EXPECT_THAT(receiver.got, testing::ElementsAre(testing::Pair(0, 1), testing::Pair(1, 2), testing::Pair(1, 3),
                                                 testing::Pair(2, 4), testing::Pair(100'000, 5)));
}

TEST_F(InboxTest, ArrivingInThePastIsABug) {
  receiver.inbox.deliver(1, 40'000);
  run_until_idle();
  EXPECT_THROW(receiver.inbox.deliver(2, 40'000), InternalError);
}

TEST_F(InboxTest, StampsNeverDecrease) {
  receiver.inbox.deliver(1, 40'000);
  EXPECT_THROW(receiver.inbox.deliver(2, 39'999), InternalError);
}

}  // namespace
}  // namespace rnic::test
