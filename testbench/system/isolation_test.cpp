// Two programs on one host.
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

// RFC 5040 section 8.1.1.
class Owner final : public host::App {
 public:
  explicit Owner(Node& node) : node_(node), core_(node.cpu.add(*this)) { node.context.when_open(core_); }
  host::Cq* cq = nullptr;
  void step() override {
    if (node_.context.is_open() && cq == nullptr) cq = node_.context.create_cq(16, host::CqMode::kPolled);
  }
  std::string waiting_for() const override { return "test"; }

 private:
  Node& node_;
  host::Core& core_;
};
using Isolation = GuardBench;
TEST_F(Isolation, ProgramsDoNotShareCompletionQueues) {
  Owner owner(node);
  run([&] {
    peer.wait_us(20);
    open();
    const host::Pd pd = domain();
    ASSERT_TRUE(await([&] { return owner.cq != nullptr && owner.cq->ready(); }));
    in_host([&] {
      host::QpInitAttr attr;
      attr.pd = pd;
      attr.max_send_wr = attr.max_recv_wr = 1;
      attr.send_cq = host.cqs[0];
      attr.recv_cq = owner.cq;
      EXPECT_EQ(node.context.create_qp(attr), nullptr);
      std::swap(attr.send_cq, attr.recv_cq);
      EXPECT_EQ(node.context.create_qp(attr), nullptr);
      attr.recv_cq = attr.send_cq = host.cqs[0];
      EXPECT_NE(node.context.create_qp(attr), nullptr);
    });
  });
}

}  // namespace
}  // namespace rnic::test
