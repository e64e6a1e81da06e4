// What the firmware says of a flow goes to the flow's lower layer, and nowhere else.
#include "model/rnic/context/flow_rows.h"

#include <utility>
#include <vector>

#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct LowerLayer final : FlowRows {
  void write(FlowId flow, const FlowContext& c) override { written.emplace_back(flow.v, c.qpn.v); }
  QpUse peek(FlowId) const override { return qp; }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> written;
  QpUse qp;
};

class FlowRowsTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 6, 4, 8}};
  LowerLayer first, second;

  FlowRowsTest() {
    contexts.keep_flows_in(first, FlowId{0}, 2);
    contexts.keep_flows_in(second, FlowId{2}, 4);
  }
  void write(std::uint32_t flow, std::uint32_t qpn) {
    FlowContext c;
    c.qpn = Qpn{qpn};
    contexts.write(FlowId{flow}, c);
  }
};

TEST_F(FlowRowsTest, AWriteGoesToTheLowerLayerOfItsFlow) {
  write(1, 7), write(2, 8), write(5, 9);
  EXPECT_THAT(first.written, ElementsAre(Pair(1u, 7u)));
  EXPECT_THAT(second.written, ElementsAre(Pair(2u, 8u), Pair(5u, 9u)));
}

TEST_F(FlowRowsTest, AFlowOfNoLowerLayerIsABug) {
  EXPECT_THROW(write(6, 7), InternalError);
  EXPECT_THROW((void)contexts.qp_of(FlowId{6}), InternalError);
  EXPECT_THAT(first.written, IsEmpty());
  EXPECT_THAT(second.written, IsEmpty());
}

// Both must agree: a number that its flow has left, or that it was given for another flow, is not its own.
TEST_F(FlowRowsTest, ObserversSeeTheQueuePairThatIsOnTheFlow) {
  first.qp.qpn = Qpn{1};
  EXPECT_EQ(contexts.qp_of(FlowId{1}), std::nullopt);
  open_qp(contexts, 1, rts_qp(1));
  EXPECT_EQ(contexts.qp_of(FlowId{1}), Qpn{1});
  EXPECT_EQ(contexts.qp_of(FlowId{0}), std::nullopt);
  first.qp.qpn = Qpn{4};
  EXPECT_EQ(contexts.qp_of(FlowId{1}), std::nullopt) << "no such queue pair";
}

TEST(LifeOf, IsTheLowOctet) {
  EXPECT_EQ(life_of(0), 0);
  EXPECT_EQ(life_of(0x1ff), 0xff);
  EXPECT_EQ(life_of(0x100), 0);
}

}  // namespace
}  // namespace rnic::test
