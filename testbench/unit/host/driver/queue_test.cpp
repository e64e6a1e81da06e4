#include <cerrno>
#include <numeric>

#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

class QueueTest : public DriverTest {};

constexpr std::uint32_t kSqDoorbell = 0x40, kRqDoorbell = 0x44;

TEST_F(QueueTest, AWorkRequestIsInItsRingBehindTheDoorbell) {
  connect_both(4, 4);
  a.host.device.execute_sends = false;
  a.script.run([&] {
    host::SendWr wr = a.send_wr(0xabcdef, 0x100, 77, abi::kWqeSignaled | abi::kWqeSolicited);
    wr.opcode = abi::WrOpcode::kRdmaWrite;
    wr.remote_addr = 0x123456789a;
    wr.rkey = 0x777;
    EXPECT_EQ(a.qp->post_send(wr), 0);
  });
  run_until_idle();
  EXPECT_THAT(a.host.device.values(kSqDoorbell), ElementsAre(0x00100000u));
  const std::uint8_t* p = a.host.memory.span(a.qp->sq().base(), 128).data();
  EXPECT_THAT(std::vector<int>(p, p + 4), ElementsAre(1, 3, 1, 0));
  EXPECT_EQ(load_le64(p + 8), 0u);  // the driver's sequence number; the program's own wr_id stays in the driver
  EXPECT_EQ(load_le64(p + 16), 0x123456789au);
  EXPECT_EQ(load_le32(p + 24), 0x777u);
  EXPECT_EQ(load_le64(p + 32), a.buffer + 0x100);
  EXPECT_EQ(load_le32(p + 40), 77u);
  EXPECT_EQ(load_le32(p + 44), a.mr->lkey());
}

TEST_F(QueueTest, AFullRingIsEnomemWithoutSideEffect) {
  connect_both(4, 4);
  a.host.device.execute_sends = false;
  std::vector<int> results;
  a.script.run([&] {
    host::SendWr two[2] = {a.send_wr(0, 0, 8), a.send_wr(1, 0, 8)};
    for (int i = 0; i < 2; ++i) results.push_back(a.qp->post_send(two, 1 + i));  // 3 of 4 entries
    const std::uint64_t before = a.script.core.time_ps();
    results.push_back(a.qp->post_send(two, 2));
    EXPECT_EQ(a.script.core.time_ps(), before);
    results.push_back(a.qp->post_send(two, 1));
    results.push_back(a.qp->post_send(two, 1));
    host::RecvWr recv = a.recv_wr(0, 0, 8);
    for (int i = 0; i < 5; ++i) results.push_back(a.qp->post_recv(recv));
  });
  run_until_idle();
  EXPECT_THAT(results, ElementsAre(0, 0, ENOMEM, 0, ENOMEM, 0, 0, 0, 0, ENOMEM));
  EXPECT_THAT(a.host.device.values(kSqDoorbell), ElementsAre(1u << 20, 3u << 20, 4u << 20));
  EXPECT_THAT(a.host.device.values(kRqDoorbell), ElementsAre(1u << 20, 2u << 20, 3u << 20, 4u << 20));
}

TEST_F(QueueTest, WhatCannotBePostedIsEinvalWithoutSideEffect) {
  a.create(4, 4);
  a.script.run([&] {
    EXPECT_EQ(a.qp->post_send(a.send_wr(0, 0, 8)), EINVAL);  // not connected
    EXPECT_EQ(a.qp->post_recv(a.recv_wr(0, 0, 8)), 0);       // allowed before that
    a.qp->set_state(host::QpState::kRts);
    host::SendWr wr = a.send_wr(0, 0, 97, abi::kWqeInline);
    EXPECT_EQ(a.qp->post_send(wr), EINVAL);
    wr.sg_list[0].length = 96;
    wr.opcode = abi::WrOpcode::kRdmaRead;
    EXPECT_EQ(a.qp->post_send(wr), EINVAL);
    wr = a.send_wr(0, 0, 8);
    wr.num_sge = 7;
    host::SendWr list[2] = {a.send_wr(0, 0, 8), wr};
    EXPECT_EQ(a.qp->post_send(list, 2), EINVAL);
    a.qp->set_state(host::QpState::kError);
    EXPECT_EQ(a.qp->post_recv(a.recv_wr(0, 0, 8)), EINVAL);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  EXPECT_TRUE(a.host.device.values(kSqDoorbell).empty());
}

// 11 messages through rings of 4: the rings wrap, the phase flips twice, and every octet arrives.
TEST_F(QueueTest, RingsWrapAndPhasesFlip) {
  connect_both(4, 4);
  constexpr std::uint32_t kMessages = 11;
  std::vector<std::uint32_t> lengths;
  b.script.run([&] {
    for (std::uint32_t i = 0; i < 4; ++i) ASSERT_EQ(b.qp->post_recv(b.recv_wr(100 + i, i * 64, 64)), 0);
  });
  b.script.then([&] {
    host::Wc wc;
    while (b.recv_cq->poll_cq(&wc, 1) == 1) {
      const auto i = static_cast<std::uint32_t>(b.completions.size());
      b.completions.push_back(wc);
      lengths.push_back(wc.byte_len);
      const std::uint8_t* p = b.host.memory.span(b.buffer + i % 4 * 64, 64).data();
      EXPECT_THAT(std::vector<unsigned>(p, p + wc.byte_len), Each(i + 1));
      EXPECT_EQ(b.qp->post_recv(b.recv_wr(100 + i + 4, i % 4 * 64, 64)), 0);
    }
    return b.completions.size() == kMessages;
  });
  std::uint32_t sent = 0;
  a.script.then([&] {
    host::Wc wc;
    while (a.send_cq->poll_cq(&wc, 1) == 1) a.completions.push_back(wc);
    if (sent < kMessages && sent == a.completions.size()) {
      std::fill_n(a.host.memory.span(a.buffer, 64).data(), 64, static_cast<std::uint8_t>(sent + 1));
      EXPECT_EQ(a.qp->post_send(a.send_wr(sent, 0, 10 + sent)), 0);
      ++sent;
    }
    return a.completions.size() == kMessages;
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done() && b.script.done());
  std::vector<std::uint64_t> order(kMessages), received(kMessages);
  std::iota(order.begin(), order.end(), 0);
  std::iota(received.begin(), received.end(), 100);
  EXPECT_THAT(ids(a), ElementsAreArray(order));
  EXPECT_THAT(ids(b), ElementsAreArray(received));
  EXPECT_THAT(lengths, ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
  EXPECT_EQ(a.host.device.values(kSqDoorbell).back(), 11u << 20);
  EXPECT_EQ(b.host.device.sends_without_receive, 0u);
}

TEST_F(QueueTest, ProducerIndicesAreModulo4096) {
  connect_both(64, 4);
  constexpr unsigned kBatches = 66;  // 4224 zero-length Writes
  unsigned batch = 0;
  a.script.then([&] {
    host::Wc wc[64];
    if (batch != 0) {
      const unsigned n = a.send_cq->poll_cq(wc, 64);
      if (n == 0) return false;
      EXPECT_EQ(n, 1u);
      EXPECT_EQ(wc[0].wr_id, 63u);
      EXPECT_EQ(a.qp->sq().outstanding(), 0u);
    }
    if (batch++ == kBatches) return true;
    std::vector<host::SendWr> wrs;
    for (unsigned i = 0; i < 64; ++i) wrs.push_back(a.send_wr(i, 0, 0, i == 63 ? 1 : 0));
    for (auto& wr : wrs) wr.opcode = abi::WrOpcode::kRdmaWrite, wr.rkey = b.mr->rkey(), wr.remote_addr = b.buffer;
    EXPECT_EQ(a.qp->post_send(wrs.data(), 64), 0);
    return false;
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
  const auto bells = a.host.device.values(kSqDoorbell);
  ASSERT_EQ(bells.size(), kBatches);
  EXPECT_EQ(bells[62], 4032u << 20);
  EXPECT_EQ(bells[63], 0u);
  EXPECT_EQ(bells[64], 64u << 20);
}

TEST_F(QueueTest, ACompletionFreesTheUnsignaledRequestsBeforeIt) {
  connect_both(8, 4);
  a.script.run([&] {
    for (std::uint64_t i = 0; i < 3; ++i) {
      host::SendWr wr = a.send_wr(i, 0, 4, i == 2 ? 1 : 0);
      wr.opcode = abi::WrOpcode::kRdmaWrite;
      wr.rkey = b.mr->rkey();
      wr.remote_addr = b.buffer;
      EXPECT_EQ(a.qp->post_send(wr), 0);
    }
    EXPECT_EQ(a.qp->sq().free(), 5u);
  });
  a.collect(&Side::send_cq, 1);
  run_until_idle();
  EXPECT_THAT(ids(a), ElementsAre(2));
  EXPECT_EQ(a.qp->sq().free(), 8u);
}

TEST_F(QueueTest, AnErrorCompletesAnUnsignaledRequest) {
  connect_both(8, 4);
  a.script.run([&] {
    host::SendWr wr = a.send_wr(5, 0, 4, 0);
    wr.opcode = abi::WrOpcode::kRdmaWrite;
    wr.rkey = 0xbad;
    EXPECT_EQ(a.qp->post_send(wr), 0);
  });
  a.collect(&Side::send_cq, 1);
  run_until_idle();
  ASSERT_EQ(a.completions.size(), 1u);
  EXPECT_EQ(a.completions[0].wr_id, 5u);
  EXPECT_EQ(a.completions[0].status, abi::WcStatus::kRemAccessErr);
  EXPECT_STREQ(host::wc_status_str(a.completions[0].status), "remote access error");
}

TEST_F(QueueTest, InlineDataIsTakenWhenPosted) {
  connect_both(4, 4);
  b.script.run([&] { EXPECT_EQ(b.qp->post_recv(b.recv_wr(1, 0, 96)), 0); });
  b.collect(&Side::recv_cq, 1);
  a.script.run([&] {
    std::uint8_t* p = a.host.memory.span(a.buffer, 96).data();
    std::iota(p, p + 96, 0);
    host::SendWr wr = a.send_wr(1, 0, 40, abi::kWqeSignaled | abi::kWqeInline);
    wr.num_sge = 2;
    wr.sg_list[1] = {a.buffer + 40, 56, 0};
    EXPECT_EQ(a.qp->post_send(wr), 0);
    std::fill_n(p, 96, 0xee);
  });
  run_until_idle();
  ASSERT_EQ(b.completions.size(), 1u);
  EXPECT_EQ(b.completions[0].byte_len, 96u);
  const std::uint8_t* p = b.host.memory.span(b.buffer, 96).data();
  for (int i = 0; i < 96; ++i) EXPECT_EQ(p[i], i);
}

TEST_F(QueueTest, ACompletionQueueThatCouldOverflowIsRefused) {
  a.wait_open();
  a.script.run([&] {
    host::Cq* cq = a.host.context.create_cq(100, host::CqMode::kPolled);  // 128 entries
    EXPECT_NE(a.host.context.create_qp({{}, cq, cq, 64, 32}), nullptr);
    EXPECT_EQ(a.host.context.create_qp({{}, cq, cq, 32, 32}), nullptr);  // 32 entries are left
    host::Qp* last = a.host.context.create_qp({{}, cq, cq, 16, 16});
    EXPECT_NE(last, nullptr);
    EXPECT_EQ(a.host.context.create_qp({{}, cq, cq, 1, 1}), nullptr);
    a.host.context.destroy_qp(*last);
    EXPECT_NE(a.host.context.create_qp({{}, cq, cq, 16, 16}), nullptr);
    EXPECT_EQ(a.host.context.create_cq(1025, host::CqMode::kPolled), nullptr);
    EXPECT_EQ(a.host.context.create_qp({{}, cq, cq, 2049, 1}), nullptr);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

// A number is free again when its object is gone, and the lowest free one is taken.
TEST_F(QueueTest, TheLowestFreeNumberIsTaken) {
  std::vector<host::Cq*> cqs;
  std::vector<std::uint32_t> numbers;
  const auto create = [&] {
    cqs.push_back(a.host.context.create_cq(4, host::CqMode::kPolled));
    numbers.push_back(cqs.back()->number().v);
  };
  a.wait_open();
  a.script.run([&] {
    for (int i = 0; i < 4; ++i) create();
  });
  a.script.then([&] { return cqs[3]->ready(); });
  a.script.run([&] {
    a.host.context.destroy_cq(*cqs[2]);
    a.host.context.destroy_cq(*cqs[1]);
    create();  // neither is gone yet
  });
  a.script.then([&] { return cqs[1]->destroyed() && cqs[2]->destroyed(); });
  a.script.run([&] {
    for (int i = 0; i < 3; ++i) create();
  });
  run_until_idle();
  ASSERT_TRUE(a.script.done());
  const std::uint32_t first = numbers[0];
  for (std::uint32_t& n : numbers) n -= first;
  EXPECT_THAT(numbers, ElementsAre(0, 1, 2, 3, 4, 1, 2, 5));
}

TEST_F(QueueTest, AProgramMayMakeAQueueSmallerThanItsWorkRequestsCouldFill) {
  a.wait_open();
  a.script.run([&] {
    host::Cq* cq = a.host.context.create_cq(4, host::CqMode::kPolled, host::CqOverrun::kPossible);
    EXPECT_NE(a.host.context.create_qp({{}, cq, cq, 64, 64}), nullptr);
    EXPECT_NE(a.host.context.create_qp({{}, cq, cq, 64, 64}), nullptr);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

// RFC 5040 section 8.1.1: unrelated ULPs do not share one.
TEST_F(QueueTest, AnotherProgramsCompletionQueueIsRefused) {
  Script other{a.host.cpu};
  host::Cq* theirs = nullptr;
  a.host.context.when_open(other.core);
  other.then([&] { return a.host.context.is_open(); });
  other.run([&] {
    theirs = a.host.context.create_cq(64, host::CqMode::kPolled);
    EXPECT_NE(a.host.context.create_qp({{}, theirs, theirs, 8, 8}), nullptr);
    a.script.core.wake();
  });
  a.script.then([&] { return theirs != nullptr; });
  a.script.run([&] {
    host::Cq* ours = a.host.context.create_cq(64, host::CqMode::kPolled);
    EXPECT_EQ(a.host.context.create_qp({{}, ours, theirs, 8, 8}), nullptr);
    EXPECT_EQ(a.host.context.create_qp({{}, theirs, ours, 8, 8}), nullptr);
    EXPECT_NE(a.host.context.create_qp({{}, ours, ours, 8, 8}), nullptr);
  });
  run_until_idle();
  EXPECT_TRUE(a.script.done());
}

// The device reads how far the program has polled from the four octets after the ring.
TEST_F(QueueTest, PollingCountsTheEntriesTaken) {
  connect_both(4, 4);
  b.script.run([&] { EXPECT_EQ(b.qp->post_recv(b.recv_wr(1, 0, 64)), 0); });
  a.script.run([&] { a.script.core.wake_at(80'000'000); });
  a.script.then([&] { return a.script.core.time_ps() >= 80'000'000; });
  a.script.run([&] { EXPECT_EQ(a.qp->post_send(a.send_wr(1, 0, 8)), 0); });
  const auto taken = [&] { return load_le32(a.host.memory.span(a.send_cq->base() + 4 * 32, 4).data()); };
  a.script.run([&] { EXPECT_EQ(taken(), 0u); });
  a.collect(&Side::send_cq, 1);
  run_until_idle();
  EXPECT_EQ(taken(), 1u);
}

TEST_F(QueueTest, ACompletionOfWhatWasNotPostedIsABugOfTheDevice) {
  connect_both(4, 4);
  a.script.run([&] { a.script.core.wake_at(80'000'000); });
  a.collect(&Side::send_cq, 1);
  b.script.run([&] {
    abi::Cqe cqe;
    cqe.wr_id = 0;
    cqe.qpn = a.qp->number().v;
    a.host.device.complete(a.send_cq->number().v, cqe);
  });
  try {
    sc_core::sc_start();
    FAIL() << "nobody noticed";
  } catch (const sc_core::sc_report& report) {
    EXPECT_THAT(report.what(), testing::HasSubstr("completion of entry 0, but 0 to 0 (exclusive) are outstanding"));
  }
}

// The device writes a completion in the very cycle in which the program polls: the program sees it one cycle later,
// whichever of the two was called first.
TEST_F(QueueTest, WhatIsWrittenInThisCycleIsNotSeenInIt) {
  connect_both(4, 4);
  std::vector<unsigned> seen;
  a.script.run([&] {
    ASSERT_EQ(a.qp->post_recv(a.recv_wr(9, 0, 4)), 0);
    abi::Cqe cqe;
    cqe.opcode = abi::WcOpcode::kRecv;
    cqe.qpn = a.qp->number().v;
    a.host.device.complete(a.recv_cq->number().v, cqe);
    host::Wc wc;
    seen.push_back(a.recv_cq->poll_cq(&wc, 1));
  });
  a.script.then([&] {
    host::Wc wc;
    if (seen.size() == 1) {
      seen.push_back(a.recv_cq->poll_cq(&wc, 1));
      return false;
    }
    seen.push_back(a.recv_cq->poll_cq(&wc, 1));
    return true;
  });
  run_until_idle();
  EXPECT_THAT(seen, ElementsAre(0, 0, 1));
}

TEST_F(QueueTest, AWatchedWordIsSeenOneCycleAfterItWasWritten) {
  connect_both(4, 4);
  std::uint64_t values[2] = {};
  host::Watch* watch = nullptr;
  b.script.run([&] { watch = &b.host.context.watch(b.buffer + 256); });
  b.script.then([&] { return (values[1] = watch->value()) != 0; });
  a.script.run([&] {
    store_le64(a.host.memory.span(a.buffer, 8).data(), 0x1122334455667788);
    host::SendWr wr = a.send_wr(1, 0, 8, abi::kWqeInline);
    wr.opcode = abi::WrOpcode::kRdmaWrite;
    wr.rkey = b.mr->rkey();
    wr.remote_addr = b.buffer + 256;
    EXPECT_EQ(a.qp->post_send(wr), 0);
  });
  run_until_idle();
  EXPECT_EQ(values[1], 0x1122334455667788u);
}

}  // namespace
}  // namespace rnic::test
