#include "testbench/unit/host/driver/driver_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

// The clock is 4 ns, so everything happens on multiples of it.
class TimeTest : public DriverTest {
 protected:
  std::vector<std::uint64_t> seen_ps;
};

TEST_F(TimeTest, CallsOfOneProgramFollowEachOtherAndDoorbellsLeaveAtTheirEnd) {
  connect_both(8, 8);
  a.host.device.execute_sends = false;
  std::uint64_t start = 0, end = 0;
  a.script.run([&] {
    start = a.script.core.time_ps();
    host::SendWr wrs[3] = {a.send_wr(0, 0, 8), a.send_wr(1, 0, 8), a.send_wr(2, 0, 8)};
    ASSERT_EQ(a.qp->post_send(wrs, 3), 0);
    ASSERT_EQ(a.qp->post_send(wrs, 1), 0);
    end = a.script.core.time_ps();
  });
  run_until_idle();
  std::vector<std::uint64_t> bells;
  for (const auto& w : a.host.device.writes) {
    if (w.offset == 0x40) bells.push_back(w.at_ps - start);
  }
  EXPECT_THAT(bells, ElementsAre((3 * 40 + 5) * 1000, (3 * 40 + 5 + 40 + 5) * 1000));
  EXPECT_EQ(end - start, 170'000u);
}

TEST_F(TimeTest, RegisterWritesOfTwoProgramsLeaveInTheOrderOfTime) {
  Script other(host_a.cpu);
  connect_both(8, 8);
  a.host.device.execute_sends = false;
  a.script.run([&] {
    other.core.wake();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(a.qp->post_send(a.send_wr(0, 0, 8)), 0);  // at 45, 90 and 135 ns
  });
  other.then([&] { return a.qp != nullptr && a.qp->sq().posted() == 3; });
  other.run([&] { host_a.cpu.mmio_write(0x1c, 0); });  // a cycle later, 5 ns
  run_until_idle();
  std::vector<std::uint32_t> offsets;
  for (const auto& w : a.host.device.writes) {
    if (w.offset == 0x1c || w.offset == 0x40) offsets.push_back(w.offset);
  }
  EXPECT_THAT(offsets, ElementsAre(0x1c, 0x40, 0x40, 0x40));
}

TEST_F(TimeTest, APolledCompletionIsSeenAtTheNextTurnOfTheLoop) {
  connect_both(8, 8);
  std::uint64_t idle_since = 0;
  a.script.run([&] {
    ASSERT_EQ(a.qp->post_send(a.send_wr(0, 0, 0, abi::kWqeSignaled)), 0);
    idle_since = a.script.core.time_ps();
  });
  b.script.run([&] {});
  a.script.then([&] {
    const std::uint64_t now = clk.now_ps();
    host::Wc wc;
    if (now <= idle_since || a.send_cq->poll_cq(&wc, 1) == 0) return false;
    seen_ps.push_back(now - idle_since);
    return true;
  });
  run_until_idle();
  ASSERT_EQ(seen_ps.size(), 1u);
  // Polled once right after the post, which costs 15 ns; then turns of 20 ns, rounded up to the clock's 4 ns.
  const auto turns = (seen_ps[0] / 1000 - 15 + 19) / 20;
  EXPECT_GE(seen_ps[0], 1'200'000u);  // 400 ns to the device and 800 ns back
  EXPECT_LT(seen_ps[0], 1'260'000u);
  EXPECT_LT(seen_ps[0] / 1000 - turns * 20 - 15 + 20, 24u);
}

TEST_F(TimeTest, AnIdlePollingLoopCostsNothing) {
  connect_both(8, 8);
  a.collect(&Side::send_cq, 1);
  sc_core::sc_start(100, sc_core::SC_US);
  const auto ticks = clk.activity().ticks;
  sc_core::sc_start(1, sc_core::SC_SEC);
  EXPECT_EQ(clk.activity().ticks, ticks);
  EXPECT_EQ(a.host.cpu.waiting_for(), "step 7");
}

// 20 completions in bursts, a program that sleeps between them: arm, poll once more, sleep.
TEST_F(TimeTest, NoNotificationIsLostBetweenPollingAndArming) {
  connect_both(32, 32, host::CqMode::kNotified);
  unsigned wakeups = 0;
  b.script.run([&] {
    for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(b.qp->post_recv(b.recv_wr(i, 0, 64)), 0);
    b.recv_cq->req_notify_cq();
  });
  b.script.then([&] {
    if (!b.recv_cq->get_cq_event()) return false;
    ++wakeups;
    host::Wc wc;
    // Takes only one, then arms: the device must notify at once while more are waiting.
    if (b.recv_cq->poll_cq(&wc, 1) == 1) b.completions.push_back(wc);
    b.recv_cq->req_notify_cq();
    return b.completions.size() == 20;
  });
  a.script.run([&] {
    for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(a.qp->post_send(a.send_wr(i, 0, 64, i == 19 ? 1 : 0)), 0);
  });
  run_until_idle();
  EXPECT_EQ(b.completions.size(), 20u);
  EXPECT_EQ(wakeups, 20u);
}

TEST_F(TimeTest, SolicitedOnlySleepsThroughTheOthers) {
  connect_both(32, 32, host::CqMode::kNotified);
  unsigned at_wakeup = 0;
  b.script.run([&] {
    for (unsigned i = 0; i < 5; ++i) ASSERT_EQ(b.qp->post_recv(b.recv_wr(i, 0, 64)), 0);
    b.recv_cq->req_notify_cq(true);
  });
  b.script.then([&] {
    if (!b.recv_cq->get_cq_event()) return false;
    host::Wc wc[8];
    at_wakeup = b.recv_cq->poll_cq(wc, 8);
    return true;
  });
  a.script.run([&] {
    for (unsigned i = 0; i < 5; ++i) ASSERT_EQ(a.qp->post_send(a.send_wr(i, 0, 64, i == 4 ? 2 : 0)), 0);
  });
  run_until_idle();
  EXPECT_EQ(at_wakeup, 5u);
  EXPECT_EQ(b.host.device.notifications, 1u);
}

TEST_F(TimeTest, AnInterruptTakesItsTime) {
  connect_both(8, 8);
  std::uint64_t sent = 0, heard = 0;
  a.script.run([&] {
    abi::Event e;
    e.type = abi::EventType::kDisconnected;
    e.id = a.qp->number().v;
    a.host.device.raise(e);
    sent = clk.now_ps();
  });
  a.script.then([&] {
    if (a.channel.empty()) return false;
    heard = clk.now_ps();
    return true;
  });
  run_until_idle();
  EXPECT_EQ(heard - sent, (400 + 1500 + 200) * 1000u);  // in the device, to the handler, in the handler
}

}  // namespace
}  // namespace rnic::test
