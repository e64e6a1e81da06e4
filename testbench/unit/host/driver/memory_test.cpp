// Shared receive queues and page lists, as the device sees them.
#include <cerrno>

#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kSrqDoorbell = 0x4c, kMaxPages = 0x34;

class SharedQueueDriverTest : public DriverTest {
 protected:
  host::Srq* srq = nullptr;
  std::vector<host::Qp*> qps;
  // A queue of four entries and two queue pairs that use it, with one CQ of 16.
  void create_sharing() {
    a.wait_open();
    a.script.run([this] {
      a.pd = a.host.context.alloc_pd();
      a.recv_cq = a.host.context.create_cq(16, host::CqMode::kPolled);
      srq = a.host.context.create_srq({a.pd, 3});
      host::QpInitAttr attr{a.pd, a.recv_cq, a.recv_cq, 4, 128, srq};
      for (int i = 0; i < 2; ++i) qps.push_back(a.host.context.create_qp(attr));
    });
    a.script.then([this] { return srq->ready() && qps[0]->ready() && qps[1]->ready(); });
  }
  void complete(std::uint32_t qpn, std::uint64_t slot, abi::WcStatus status = abi::WcStatus::kSuccess) {
    abi::Cqe cqe;
    cqe.qpn = qpn;
    cqe.wr_id = slot;
    cqe.opcode = abi::WcOpcode::kRecv;
    cqe.status = status;
    a.host.device.complete(a.recv_cq->number().v, cqe);
  }
  static host::RecvWr request(std::uint64_t wr_id) {
    host::RecvWr wr;
    wr.wr_id = wr_id;
    return wr;
  }
  std::uint64_t entry(unsigned i) { return load_le64(a.host.memory.span(srq->base() + 128 * i + 8, 8).data()); }
};

TEST_F(SharedQueueDriverTest, EntriesComeBackInAnyOrderAndTheRingGoesOn) {
  create_sharing();
  a.script.run([this] {
    const host::RecvWr four[] = {request(10), request(11), request(12), request(13)};
    EXPECT_EQ(srq->post_recv(four, 4), 0);
    EXPECT_EQ(srq->post_recv(request(14)), ENOMEM);
    EXPECT_EQ(qps[0]->post_recv(request(14)), EINVAL) << "it has no ring of its own";
    complete(qps[1]->number().v, 2);
    complete(qps[0]->number().v, 1);
  });
  a.collect(&Side::recv_cq, 2);
  a.script.run([this] {
    EXPECT_EQ(srq->free(), 2u);
    EXPECT_EQ(srq->post_recv(request(14)), 0);
  });
  run_until_idle();
  EXPECT_EQ(a.completions[0].wr_id, 12u);
  EXPECT_EQ(a.completions[0].qp_num, qps[1]->number().v);
  EXPECT_EQ(a.completions[1].wr_id, 11u);
  EXPECT_THAT(a.host.device.values(kSrqDoorbell), ElementsAre(4u << 20, 5u << 20));
  EXPECT_EQ(entry(0), 4u << abi::kSharedSlotBits | 1u) << "the ring's next entry, whichever slot it uses";
}

TEST_F(SharedQueueDriverTest, ACompletionSetsRoomAsideForTheQueueOnce) {
  create_sharing();
  host::Qp *third = nullptr, *fourth = nullptr;
  a.script.run([&] {  // 4 + 2 x 4 of 16 are taken
    third = a.host.context.create_qp({a.pd, a.recv_cq, a.recv_cq, 4, 128, srq});
    fourth = a.host.context.create_qp({a.pd, a.recv_cq, a.recv_cq, 1, 128, srq});
  });
  run_until_idle();
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(fourth, nullptr);
}

TEST_F(SharedQueueDriverTest, LimitAndErrorEvents) {
  create_sharing();
  const auto raise = [&](abi::EventType type) {
    abi::Event e;
    e.type = type;
    e.id = srq->number().v;
    a.host.device.raise(e);
  };
  a.script.run([&] {
    EXPECT_FALSE(srq->get_limit_event());
    a.host.context.modify_srq(*srq, 3);
    EXPECT_FALSE(srq->answered());
    raise(abi::EventType::kSrqLimit);
  });
  a.script.then([&] { return srq->answered() && srq->get_limit_event(); });
  a.script.run([&] {
    EXPECT_FALSE(srq->get_limit_event()) << "it was taken";
    EXPECT_EQ(a.host.device.commands.back().u.srq.limit, 3u);
    raise(abi::EventType::kSrqError);
  });
  a.script.then([&] { return srq->in_error(); });
  a.script.run([&] { EXPECT_EQ(srq->post_recv(request(1)), EINVAL); });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

TEST_F(SharedQueueDriverTest, AnEntryThatWasOverwrittenComesBackAsItIs) {
  create_sharing();
  a.script.run([this] {
    EXPECT_EQ(srq->post_recv(request(10)), 0);
    complete(qps[0]->number().v, 0xdeadbeef, abi::WcStatus::kWrFlushErr);
  });
  a.collect(&Side::recv_cq, 1);
  run_until_idle();
  EXPECT_EQ(a.completions[0].wr_id, 0xdeadbeefu);
  EXPECT_EQ(srq->free(), 3u);
}

class PagedRegionDriverTest : public DriverTest {
 protected:
  PagedRegionDriverTest() { a.host.device.registers[kMaxPages] = 100; }
  host::PageList list_of(std::uint32_t pages) { return {12, 0x123, a.host.memory.alloc_pages(pages, 12)}; }
};

TEST_F(PagedRegionDriverTest, AListGoesInCommandsOf64PagesBeforeItsRegion) {
  a.wait_open();
  host::Mr* mr = nullptr;
  host::PageList list = list_of(70);
  a.script.run([&] { mr = a.host.context.reg_mr({}, list, 0x5555, 70 * 4096 - 0x123, abi::kLocalWrite); });
  a.script.then([&] { return mr->ready(); });
  run_until_idle();
  const auto& commands = a.host.device.commands;
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].op, abi::CommandOp::kWritePages);
  EXPECT_EQ(commands[0].id, 0u);
  EXPECT_EQ(commands[0].private_bytes, 512u);
  EXPECT_EQ(commands[1].id, 64u);
  EXPECT_EQ(commands[1].private_bytes, 48u);
  EXPECT_EQ(commands[2].op, abi::CommandOp::kRegisterMrPages);
  EXPECT_EQ(commands[2].u.mr_pages.address, 0x5555u);
  EXPECT_EQ(commands[2].u.mr_pages.pages, 70u);
  EXPECT_EQ(commands[2].u.mr_pages.first_offset, 0x123u);
  EXPECT_EQ(commands[2].u.mr_pages.log_page, 12u);
}

TEST_F(PagedRegionDriverTest, EntriesOfARegionThatIsGoneServeTheNext) {
  a.wait_open();
  host::Mr *first = nullptr, *second = nullptr;
  const host::PageList list = list_of(60);
  a.script.run([&] {
    first = a.host.context.reg_mr({}, list, 0, 4096, 1);
    EXPECT_EQ(a.host.context.alloc_mr({}, 41), nullptr);
    a.host.context.dereg_mr(*first);
  });
  a.script.then([&] { return first->destroyed(); });
  a.script.run([&] { second = a.host.context.alloc_mr({}, 100); });
  run_until_idle();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->pages().first, 0u);
}

TEST_F(PagedRegionDriverTest, APageThatIsNotAlignedIsRefused) {
  a.wait_open();
  host::PageList list = list_of(2);
  list.pages[1] += 8;
  a.script.run([&] { EXPECT_EQ(a.host.context.reg_mr({}, list, 0, 4096, 1), nullptr); });
  run_until_idle();
  EXPECT_THAT(a.host.device.commands, IsEmpty());
}

}  // namespace
}  // namespace rnic::test
