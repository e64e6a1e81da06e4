// tcp_connection alone, one action a cycle, with tcp_tx and tcp_rx played by the test.
#include "testbench/unit/rnic/llp/tcp/tcp_stages.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using wire::TcpHeader;

class TcpConnectionTest : public StageTest {
 protected:
  static constexpr std::uint32_t kPeer = 50'000;
  // Of a peer at 10.0.0.1:4000 to our port 5000.
  static RxReport segment(std::uint8_t flags, std::uint32_t ack = 0, std::uint16_t peer_port = 4000) {
    RxReport r;
    r.key = kKey;
    r.key.peer_port = peer_port;
    r.peer_mac = kMacA;
    r.flags = flags;
    r.seq = kPeer;
    r.ack = ack;
    r.window = 60'000;
    r.bytes = (flags & TcpHeader::kSyn) != 0 ? 1 : 0;
    return r;
  }
  static RxReport of_flow(RxReport::Kind kind) {
    RxReport r;
    r.kind = kind;
    r.flow = kOneFlow;
    return r;
  }
  void open(std::uint32_t ip = kIpA, std::uint16_t local = 5000) { ops.send(fw::TcpOpen{ip, 4000, local, 0xc0}); }
  // As a passive opener, into ESTABLISHED.
  void accept() {
    ops.send(fw::TcpListen{5000});
    run_until_idle();
    from_rx.send(segment(TcpHeader::kSyn));
    run_until_idle();
    from_tx.send({TxReport::Kind::kSynAcked, kOneFlow, kEmss});
    run_until_idle();
    ASSERT_EQ(events.size(), 1u);
    ASSERT_EQ(events[0].kind(), TcpEvents::kAccepted);
    life = events[0].life();
    clear();
  }
  void release() {
    from_tx.send({TxReport::Kind::kReleased, kOneFlow, 0});
    from_rx.send(of_flow(RxReport::Kind::kReleased));
    run_until_idle();
  }
  void clear() {
    to_tx.clear();
    to_rx.clear();
    events.clear();
  }

  TcpConfig config;
  TcpConnection dut{"dut", clk, config, {kMacB, {kIpB}, {{{kIpA}, kMacA}}}};
  Source<LlpOp> ops = drive(dut.op);
  Source<TxReport> from_tx = drive(dut.from_tx);
  Source<RxReport> from_rx = drive(dut.from_rx);
  Sink<TxCommand> to_tx = collect(dut.to_tx);
  Sink<RxCommand> to_rx = collect(dut.to_rx);
  Sink<LlpEvent> events = collect(dut.event);
  std::uint16_t life = 0;
};

TEST_F(TcpConnectionTest, AnOpenCommandsBothHalvesInItsCycle) {
  open();
  run_until_idle();
  const Cycle at = ops.cycles()[0] + 2 * kToEnd;
  ASSERT_THAT(to_tx.cycles(), ElementsAre(at));
  ASSERT_THAT(to_rx.cycles(), ElementsAre(at));
  EXPECT_EQ(to_tx[0].kind, TxCommand::Kind::kOpen);
  EXPECT_FALSE(to_tx[0].with_ack);
  EXPECT_EQ(to_rx[0].kind, RxCommand::Kind::kAwaitSyn);
  EXPECT_EQ(dut.waiting_for(), "flow 0: a peer's SYN");
}

TEST_F(TcpConnectionTest, TheAnswerToOurSynIsAcknowledgedAndReported) {
  open();
  run_until_idle();
  const std::uint32_t iss = to_tx[0].seq;
  clear();
  from_rx.send(segment(TcpHeader::kSyn | TcpHeader::kAck, iss + 1));
  run_until_idle();
  const Cycle at = from_rx.cycles()[0] + 2 * kToEnd;
  ASSERT_THAT(to_tx.cycles(), ElementsAre(at));
  EXPECT_EQ(to_tx[0].kind, TxCommand::Kind::kEstablish);
  EXPECT_EQ(to_tx[0].rcv_nxt, kPeer + 1);
  ASSERT_THAT(to_rx.cycles(), ElementsAre(at));
  EXPECT_EQ(to_rx[0].kind, RxCommand::Kind::kOpen);
  EXPECT_TRUE(to_rx[0].established);
  ASSERT_THAT(events.cycles(), ElementsAre(at));
  EXPECT_EQ(events[0].kind(), TcpEvents::kConnected);
  EXPECT_EQ(events[0].cookie(), 0xc0u);
}

// Reports of tcp_tx go before those of tcp_rx, and both before the firmware's operations.
TEST_F(TcpConnectionTest, OfWhatIsDueInOneCycleOneIsServedPerCycle) {
  accept();
  const Cycle at = clk.next() + 10;
  ops.send_at(at, fw::TcpStreamRead{kOneFlow, {0, 20}, life});
  from_rx.send_at(at, segment(TcpHeader::kSyn, 0, 4001));
  from_tx.send_at(at, {TxReport::Kind::kEmss, kOneFlow, 1000});
  run_until_idle();
  const Cycle served = at + 2 * kToEnd;
  ASSERT_THAT(events.cycles(), ElementsAre(served));
  EXPECT_EQ(events[0].kind(), LlpEvent::kind_of<fw::TcpEmssChanged>());
  ASSERT_THAT(to_tx.cycles(), ElementsAre(served + 1));  // the SYN is answered
  ASSERT_THAT(to_rx.cycles(), ElementsAre(served + 1, served + 2));
  EXPECT_EQ(to_rx[1].kind, RxCommand::Kind::kRead);
  EXPECT_EQ(to_rx[1].bytes, 20u);
}

TEST_F(TcpConnectionTest, WhatCannotBeOpenedFailsAtOnceAndSaysWhy) {
  open(kIpB + 1);  // no neighbour
  open();
  open();  // its port is in use
  run_until_idle();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].get<fw::TcpOpenFailed>()->reason, fw::OpenFailure::kTimeout);
  EXPECT_EQ(events[1].get<fw::TcpOpenFailed>()->reason, fw::OpenFailure::kNoResources);
  EXPECT_EQ(events.cycles()[1], ops.cycles()[2] + 2 * kToEnd);
}

// Of two that close at once, TIME-WAIT begins when our FIN is acknowledged, and its end frees the flow.
TEST_F(TcpConnectionTest, AFlowIsFreedAfterTimeWaitAndBothHalves) {
  accept();
  ops.send(fw::TcpClose{kOneFlow, life});
  run_until_idle();
  from_rx.send(of_flow(RxReport::Kind::kFin));
  run_until_idle();
  EXPECT_TRUE(events.empty());
  clear();
  from_tx.send({TxReport::Kind::kFinAcked, kOneFlow, 0});
  run_until_idle();
  const Cycle acked = from_tx.cycles().back() + kToEnd;
  ASSERT_THAT(events.cycles(), ElementsAre(acked + kToEnd));
  EXPECT_EQ(events[0].kind(), TcpEvents::kClosed);
  const Cycle time_wait = config.time_wait_us * 1'000'000 / clk.period_ps();
  ASSERT_THAT(to_tx.cycles(), ElementsAre(acked + time_wait + kToEnd));
  EXPECT_EQ(to_tx[0].kind, TxCommand::Kind::kRelease);
  from_tx.send({TxReport::Kind::kReleased, kOneFlow, 0});
  run_until_idle();
  EXPECT_EQ(dut.flows_in_use(), 1u);
  from_rx.send(of_flow(RxReport::Kind::kReleased));
  run_until_idle();
  EXPECT_EQ(dut.flows_in_use(), 0u);
}

// The firmware takes no event while it waits for room for an operation. An open that fails meanwhile is reported later,
// before anything else.
TEST_F(TcpConnectionTest, OperationsPassWithoutRoomForAnEvent) {
  accept();
  const Cycle from = clk.next();
  events.pause(window(from, from + 500));
  for (std::uint16_t i = 0; i < 6; ++i)
    from_tx.send({TxReport::Kind::kEmss, kOneFlow, static_cast<std::uint16_t>(1000 + i)});
  ops.send_at(from + 100, fw::TcpStreamRead{kOneFlow, {0, 20}, life});
  ops.send_at(from + 101, fw::TcpOpen{kIpA, 4000, 6000, 1});
  ops.send_at(from + 102, fw::TcpOpen{kIpA, 4000, 6000, 2});  // the same addresses
  ops.send_at(from + 103, fw::TcpStreamRead{kOneFlow, {0, 30}, life});
  run_until_idle();
  ASSERT_EQ(to_rx.size(), 3u);
  EXPECT_EQ(to_rx.cycles()[0], from + 100 + 2 * kToEnd);
  EXPECT_EQ(to_rx.cycles()[1], from + 101 + 2 * kToEnd);
  EXPECT_EQ(to_rx.cycles()[2], from + 103 + 2 * kToEnd);
  ASSERT_EQ(events.size(), 7u);
  const auto told = std::find_if(events.begin(), events.end(),
                                 [](const LlpEvent& e) { return e.get<fw::TcpOpenFailed>() != nullptr; });
  ASSERT_NE(told, events.end());
  EXPECT_EQ(told->get<fw::TcpOpenFailed>()->cookie, 2u);
  EXPECT_NE(told, events.end() - 1) << "before what else waits";
}

// tcp_tx, which says that our SYN was acknowledged, may be later than tcp_rx, which says that the connection was reset.
TEST_F(TcpConnectionTest, AResetAfterTheAckOfOurSynIsOfAnAcceptedConnection) {
  ops.send(fw::TcpListen{5000});
  run_until_idle();
  for (const bool acked : {false, true}) {
    clear();
    from_rx.send(segment(TcpHeader::kSyn));
    run_until_idle();
    ASSERT_FALSE(to_tx.empty());
    const FlowId flow = to_tx[0].flow;
    RxReport reset = of_flow(RxReport::Kind::kReset);
    reset.flow = flow;
    reset.syn_acked = acked;
    from_rx.send(reset);
    run_until_idle();
    ASSERT_EQ(events.size(), acked ? 2u : 0u);
    if (acked) {
      EXPECT_EQ(events[0].kind(), TcpEvents::kAccepted);
      EXPECT_EQ(events[1].kind(), TcpEvents::kReset);
    }
    from_tx.send({TxReport::Kind::kReleased, flow, 0});
    RxReport released = of_flow(RxReport::Kind::kReleased);
    released.flow = flow;
    from_rx.send(released);
    run_until_idle();
  }
}

TEST_F(TcpConnectionTest, AnOperationOfAnEarlierLifeHasNoEffect) {
  accept();
  from_rx.send(of_flow(RxReport::Kind::kReset));
  run_until_idle();
  release();
  from_rx.send(segment(TcpHeader::kSyn));
  run_until_idle();
  from_tx.send({TxReport::Kind::kSynAcked, FlowId{1}, kEmss});
  run_until_idle();
  clear();
  ops.send(fw::TcpClose{kOneFlow, life});
  ops.send(fw::TcpAbort{kOneFlow, life});
  run_until_idle();
  EXPECT_TRUE(to_tx.empty());
  EXPECT_TRUE(to_rx.empty());
  EXPECT_EQ(dut.counters().ops_ignored, 2u);
}

TEST_F(TcpConnectionTest, AResetForgetsConnectionsListenersAndTimeWait) {
  accept();
  ops.send(fw::TcpClose{kOneFlow, life});
  from_tx.send({TxReport::Kind::kFinAcked, kOneFlow, 0});
  from_rx.send(of_flow(RxReport::Kind::kFin));
  sc_core::sc_start(sc_core::sc_time::from_value(50 * clk.period_ps()));
  clk.reset(dut);
  clear();
  EXPECT_EQ(dut.flows_in_use(), 0u);
  from_rx.send(segment(TcpHeader::kSyn));
  run_until_idle();
  ASSERT_EQ(to_tx.size(), 1u);  // and no release of TIME-WAIT
  EXPECT_EQ(to_tx[0].kind, TxCommand::Kind::kRefuse);
}

}  // namespace
}  // namespace rnic::test
