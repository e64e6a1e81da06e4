// tcp_tx alone: the cycle in which each kind of frame leaves, and which one leaves first.
#include "testbench/unit/rnic/llp/tcp/tcp_stages.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

TEST_F(TcpTxTest, AFrameLeavesInTheCycleOfTheLastBeatOfItsFpduUnlessItsRowComesLater) {
  for (const std::size_t octets : {8u, 64u, 68u, 1460u}) fpdus.send(fpdu(octets));
  run();
  ASSERT_EQ(frames.size(), 4u);
  std::size_t beats = 0, i = 0;
  for (const std::size_t octets : {8u, 64u, 68u, 1460u}) {
    const Cycle first = fpdus.cycles()[beats] + kToEnd;
    beats += (octets + 63) / 64;
    const Cycle last = fpdus.cycles()[beats - 1] + kToEnd;
    EXPECT_EQ(seen(i).payload(), octets);
    EXPECT_EQ(frames.cycles()[i], std::max(last, first + row_cycles()) + config.tx_cycles) << octets;
    ++i;
  }
}

TEST_F(TcpTxTest, AReleaseIsAnsweredInTheNextCycleAfterItsRow) {
  command(TxCommand::Kind::kRelease);
  reports.clear();
  run();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, TxReport::Kind::kReleased);
  EXPECT_EQ(reports.cycles()[0], commands.cycles().back() + 2 * kToEnd + row_cycles());
}

// A command, an owed ACK and an FPDU that have waited for room: one frame per cycle, in this order.
TEST_F(TcpTxTest, OfWhatIsDueInOneCycleACommandLeavesFirstThenTheAckThenTheFpdu) {
  const Cycle from = clk.next(), at = from + 100;
  const std::size_t before = config.tx_link().depth;
  frames.pause(window(from, at + 100));
  for (std::size_t i = 0; i < before; ++i) fpdus.send(fpdu(8));
  TxCommand refuse = command_of(TxCommand::Kind::kRefuse);
  refuse.key = kKey;
  refuse.key.peer_port = 4001;
  refuse.peer_mac = kMacA;
  refuse.seq = 77;
  commands.send_at(at, refuse);
  feedback.send_at(at, data(RxFeedback::Answer::kNow));
  fpdus.send_at(at, fpdu(64));
  run();
  std::vector<std::string> waited = texts();
  waited.erase(waited.begin(), waited.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(waited, ElementsAre(">R", ">A", ">PA64"));
  EXPECT_EQ(frames.cycles()[before + 2], frames.cycles()[before] + 2);
}

// The ACK that the FPDU carries is not sent again.
TEST_F(TcpTxTest, AnAckThatMayWaitLeavesWithTheFpduOfTheNextCycle) {
  const Cycle at = clk.next() + 10;
  feedback.send_at(at, data(RxFeedback::Answer::kSoon));
  fpdus.send_at(at + 1, fpdu(64));
  run();
  EXPECT_THAT(texts(), ElementsAre(">PA64"));
  EXPECT_EQ(seen(0).ack(), kPeer + 100);
}

TEST_F(TcpTxTest, AnAckThatMayWaitLeavesAfterItsDelayAtTheLatest) {
  feedback.send(data(RxFeedback::Answer::kSoon));
  run();
  ASSERT_THAT(texts(), ElementsAre(">A"));
  const Cycle delay = config.ack_delay_ns * 1000 / clk.period_ps();
  EXPECT_EQ(frames.cycles()[0],
            feedback.cycles().back() + kToEnd + row_cycles() + delay + row_cycles() + config.tx_cycles);
}

TEST_F(TcpTxTest, AnAcknowledgedWorkRequestAndItsCreditAreReportedWithTheRowOfTheAck) {
  fpdus.send(fpdu(1460));
  run(100);
  feedback.send(ack(kIss + 1 + 1460));
  run();
  ASSERT_EQ(acked.size(), 1u);
  EXPECT_EQ(acked[0].wqes, 1u);
  EXPECT_EQ(acked.cycles()[0], feedback.cycles().back() + 2 * kToEnd + row_cycles());
  ASSERT_EQ(credit.size(), 1u);
  EXPECT_EQ(credit[0].bytes, 1460u);
  EXPECT_EQ(credit.cycles()[0], acked.cycles()[0]);
  EXPECT_EQ(dut.counters().retransmissions, 0u);
}

// FPDUs wait while mac_tx has no room; ACKs wait, too, and leave before it.
TEST_F(TcpTxTest, WithoutRoomEverythingWaitsAndKeepsItsOrder) {
  const Cycle from = clk.next();
  frames.pause(window(from, from + 200));
  for (int i = 0; i < 20; ++i) fpdus.send(fpdu(64));
  feedback.send_at(from + 100, data(RxFeedback::Answer::kNow));
  run();
  ASSERT_EQ(frames.size(), 21u);
  std::uint32_t seq = kIss + 1;
  std::size_t ack_at = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (seen(i).payload() == 0) {
      ack_at = i;
      continue;
    }
    EXPECT_EQ(seen(i).seq(), seq);
    seq += 64;
  }
  EXPECT_EQ(ack_at, config.tx_link().depth);  // after the frames that were in the link already
}

TEST_F(TcpTxTest, AResetLeavesNoFlowNoTimerAndNoOctet) {
  for (int i = 0; i < 5; ++i) fpdus.send(fpdu(1460));
  run(200);
  ASSERT_NE(dut.flow_state(kOneFlow).unacknowledged, 0u);
  clk.reset(dut);
  frames.clear();
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(dut.flow_state(kOneFlow).unacknowledged, 0u);
  run_until_idle();  // past every timeout
  EXPECT_TRUE(frames.empty());
}

}  // namespace
}  // namespace rnic::test
