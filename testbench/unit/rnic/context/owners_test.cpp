// The owner of a request, across the uses of a queue's number and resets of the chip.
#include <set>

#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

class OwnersTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16, 4, 16, 2}};

  void use(std::uint32_t qp_epoch, std::uint32_t srq_epoch) {
    open_qp(contexts, 1, rts_qp(1, qp_epoch));
    SrqContext srq;
    srq.valid = true;
    srq.epoch = srq_epoch;
    contexts.write(Srqn{1}, srq);
    contexts.commit();
  }
};

TEST_F(OwnersTest, AQueueAndAPlaceOfANode) {
  use(1, 1);
  EXPECT_EQ(contexts.request(Qpn{1}, 7), RequestId(2, RequestId::Kind::kSend, 1, 0, 7));
  EXPECT_EQ(contexts.request(Rqn(Qpn{1}), 7), RequestId(2, RequestId::Kind::kReceive, 1, 0, 7));
  EXPECT_EQ(contexts.request(Rqn(Srqn{1}), 7), RequestId(2, RequestId::Kind::kSharedReceive, 1, 0, 7));
  EXPECT_EQ(contexts.receive_request(Qpn{1}, 7), contexts.request(Rqn(Qpn{1}), 7));
}

// A wr_id of a shared queue holds the slot in the bits below the place.
TEST_F(OwnersTest, AReceiveRequestOfASharedQueue) {
  use(1, 1);
  QpContext sharing = rts_qp(1);
  sharing.shares_rq = true;
  sharing.srq = Srqn{1};
  open_qp(contexts, 1, sharing);
  EXPECT_EQ(contexts.receive_request(Qpn{1}, 7u << abi::kSharedSlotBits | 3), contexts.request(Rqn(Srqn{1}), 7));
}

TEST_F(OwnersTest, NoUseOfANumberHasTheOwnersOfAnother) {
  std::set<RequestId> seen;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t epoch = 1; epoch <= 5; ++epoch) {
      use(epoch < 3 ? epoch : 2, epoch);  // the shared queue's number is reused more often
      if (epoch < 3) {
        EXPECT_TRUE(seen.insert(contexts.request(Qpn{1}, 0)).second) << round << ' ' << epoch;
      }
      EXPECT_TRUE(seen.insert(contexts.request(Rqn(Srqn{1}), 0)).second) << round << ' ' << epoch;
    }
    contexts.reset();
    contexts.commit();
  }
}

}  // namespace
}  // namespace rnic::test
