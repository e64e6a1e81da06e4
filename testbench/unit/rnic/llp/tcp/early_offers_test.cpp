// The part of tcp_rx that remembers what early_placement was offered; needs no network.
#include "model/rnic/llp/tcp/early_offers.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic {
namespace {

using testing::ElementsAre;

TEST(EarlyOffers, AwaitTheOctetsOfTheirFlow) {
  EarlyOffers offers;
  offers.add(FlowId{1}, 0xfffffff0, 0x20, 5000);
  EXPECT_TRUE(offers.awaits(FlowId{1}));
  EXPECT_FALSE(offers.awaits(FlowId{2}));
  EXPECT_TRUE(offers.awaits(FlowId{1}, 0xf, 0x20));
  EXPECT_FALSE(offers.awaits(FlowId{1}, 0x10, 0x20));
  EXPECT_TRUE(offers.awaits(FlowId{1}, 0xffffff00, 0xfffffff1));
  EXPECT_FALSE(offers.awaits(FlowId{1}, 0xffffff00, 0xfffffff0));
  EXPECT_FALSE(offers.awaits(FlowId{2}, 0, 0x20));
}

TEST(EarlyOffers, AreAnsweredInOrderTheLastAnswerEndsOne) {
  EarlyOffers offers;
  offers.add(FlowId{1}, 1000, 200, 5000);
  offers.add(FlowId{2}, 3000, 200, 700);
  EarlyPlaced answer;
  answer.flow = FlowId{1};
  answer.offset = 5100;
  EXPECT_EQ(offers.on_answer(answer), 1100u);
  EXPECT_TRUE(offers.awaits(FlowId{1}));
  answer.last = true;
  offers.on_answer(answer);
  EXPECT_FALSE(offers.awaits(FlowId{1}));
  answer.flow = FlowId{2};
  answer.offset = 700;
  EXPECT_EQ(offers.on_answer(answer), 3000u);
  EXPECT_TRUE(offers.empty());
}

}  // namespace
}  // namespace rnic
