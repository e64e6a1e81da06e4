// Completion moderation as a program sees it.
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class ModerationTest : public TwoNodeBench {
 protected:
  ModerationTest() {
    server.create(32);
    client.create(32);
    connect(1);
    client.run([this] { EXPECT_EQ(b.context.modify_cq(*cq(), 8, 100'000), 0); });
    client.wait_us(20);
  }
  host::Cq* cq() { return client.streams[0].cq; }
  void arm_and_write(unsigned n) {
    client.run([this, n] {
      cq()->req_notify_cq();
      posted_ps = client.core.time_ps();
      for (unsigned i = 0; i < n; ++i) {
        host::SendWr wr = client.request(i, abi::WrOpcode::kRdmaWrite, 0, 64);
        wr.remote_addr = server.address;
        wr.rkey = server.mr->rkey();
        EXPECT_EQ(client.streams[0].qp->post_send(wr), 0);
      }
    });
    client.then([this] { return cq()->get_cq_event(); });
    client.run([this] { waited_us.push_back((client.core.time_ps() - posted_ps) / 1'000'000); });
  }
  std::uint64_t posted_ps = 0;
  std::vector<std::uint64_t> waited_us;
};

TEST_F(ModerationTest, EightCompletionsOrAHundredMicrosecondsMakeANotification) {
  arm_and_write(8);
  arm_and_write(1);
  client.run([this] { EXPECT_EQ(b.context.modify_cq(*cq(), 0, 0), 0); });
  client.wait_us(20);
  arm_and_write(1);
  run();
  ASSERT_EQ(waited_us.size(), 3u);
  EXPECT_LT(waited_us[0], 50u);
  EXPECT_GE(waited_us[1], 100u);
  EXPECT_LT(waited_us[1], 150u);
  EXPECT_LT(waited_us[2], 50u) << "moderation is off again";
  EXPECT_EQ(client.streams[0].completions.size(), 10u);
}

TEST_F(ModerationTest, WhatCouldWaitForEverIsRefused) {
  client.run([this] {
    EXPECT_EQ(b.context.modify_cq(*cq(), 2, 0), EINVAL);
    EXPECT_EQ(b.context.modify_cq(*cq(), 0x10000, 1000), EINVAL);
  });
  run();
}

}  // namespace
}  // namespace rnic::test
