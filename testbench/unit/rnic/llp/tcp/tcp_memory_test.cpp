// tcp_tx and its transmit memory: what it gives back, and when.
#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"
#include "testbench/unit/rnic/llp/tcp/tcp_stages.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = TcpEvents;

constexpr FlowId kFlow{0};
constexpr std::uint32_t kFpdu = 1460;

// Chip a keeps at most so many octets.
class TcpMemoryTest : public TcpTest {
 protected:
  explicit TcpMemoryTest(std::uint32_t octets = 4 * kFpdu, std::uint32_t records = 1000)
      : memory(clk, {octets, records}, FlowId{0}, 8) {
    memory.serve(a.segmenter);
    a.segmenter.memory = &memory;
    a.tcp_tx.keep_in(memory);
  }
  void run(Cycle cycles) { sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps())); }
  // Cycle by cycle until `end`: what is held are the FPDUs that were cut and are not acknowledged as a whole. All have
  // kFpdu octets.
  void check_every_cycle(Cycle from, Cycle end) {
    run(from - clk.now());
    start = a.tcp_tx.flow_state(kFlow).snd_una;
    while (clk.next() < end && !HasFailure()) {
      run(1);
      const std::uint64_t acked = (a.tcp_tx.flow_state(kFlow).snd_una - start) / kFpdu * kFpdu;
      const std::uint64_t kept = a.segmenter.cut_octets[0] - acked;
      ASSERT_EQ(memory.used().octets, kept) << clk.now();
      ASSERT_EQ(memory.used().records, kept / kFpdu) << clk.now();
      ASSERT_LE(kept, limit) << clk.now();
    }
  }
  void expect_nothing_left() {
    EXPECT_EQ(memory.used().octets, 0u);
    EXPECT_EQ(memory.used().records, 0u);
    expect_all_returned();
  }
  llp::TransmitMemory memory;
  std::uint32_t start = 0;
  std::uint64_t limit = 2 * kFpdu;  // one flow alone gets half
};

TEST_F(TcpMemoryTest, HoldsWhatIsCutAndNotAcknowledged) {
  connect_rdma();
  a.segmenter.send(kFlow, 60, kFpdu, 5000);
  check_every_cycle(4000, 30'000);
  run_until_idle();
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(60 * kFpdu));
  EXPECT_EQ(memory.counters().octets_max, 2 * kFpdu);
  EXPECT_GT(memory.counters().waits, 20u);
  expect_nothing_left();
}

TEST_F(TcpMemoryTest, HoldsWhatIsCutAndNotAcknowledgedWithLosses) {
  connect_rdma();
  Prng prng(7);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 3000 || prng.below(20) != 0; });
  a.segmenter.send(kFlow, 60, kFpdu, 5000);
  check_every_cycle(4000, 200'000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(60 * kFpdu));
  EXPECT_GT(a.tcp_tx.counters().retransmissions, 0u);
  expect_nothing_left();
}

// tcp_tx takes the feedback of tcp_rx, and the segmenter is called a cycle later: its FPDU has a beat in each one.
TEST_F(TcpMemoryTest, TheNextFpduIsCutInTheCycleAfterTheAcknowledgement) {
  connect_rdma();
  a.segmenter.send(kFlow, 3, kFpdu, 5000);
  run(5000);
  start = a.tcp_tx.flow_state(kFlow).snd_una;
  while (a.tcp_tx.flow_state(kFlow).snd_una == start) run(1);
  const Cycle acknowledged = clk.now();
  run_until_idle();
  const unsigned beats = (kFpdu + DatapathConfig{}.beat_bytes - 1) / DatapathConfig{}.beat_bytes;
  ASSERT_EQ(a.segmenter.pushed_at.size(), 3u);
  EXPECT_EQ(a.segmenter.pushed_at[2], acknowledged + 1 + beats - 1);
}

class OneFpdu : public TcpMemoryTest, public testing::WithParamInterface<unsigned> {
 protected:
  OneFpdu() : TcpMemoryTest(GetParam() * kFpdu) { limit = GetParam() * kFpdu; }
};

TEST_P(OneFpdu, IsEnoughToComeToTheEnd) {
  connect_rdma();
  Prng prng(GetParam());
  cable.impair([&](unsigned, Frame&) { return clk.now() < 3000 || prng.below(10) != 0; });
  a.segmenter.send(kFlow, 30, kFpdu, 5000);
  b.segmenter.send(kFlow, 30, 516, 5000);
  check_every_cycle(4000, 100'000);
  run_until_idle(1'000'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(30 * kFpdu));
  EXPECT_EQ(a.deframer.stream[0], counting_bytes(30 * 516));
  expect_nothing_left();
}
INSTANTIATE_TEST_SUITE_P(Fpdus, OneFpdu, testing::Values(1, 2, 3));

class OneRecordOfTcp : public TcpMemoryTest {
 protected:
  OneRecordOfTcp() : TcpMemoryTest(1 << 20, 1) {}
};

TEST_F(OneRecordOfTcp, IsEnoughToComeToTheEnd) {
  connect_rdma();
  a.segmenter.send(kFlow, 30, 64, 5000);
  run_until_idle(1'000'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(30 * 64));
  EXPECT_EQ(memory.counters().records_max, 1u);
  expect_nothing_left();
}

// Its window is closed from the beginning: it acknowledges nothing beyond that.
TEST_F(TcpMemoryTest, APeerThatDoesNotAnswerHoldsHalfAndTheOtherConnectionGoesOn) {
  connect_rdma();
  a.firmware.open(kIpB, 5000, 4792);
  a.segmenter.send(FlowId{0}, 2, kFpdu, 8000);
  a.segmenter.send(FlowId{1}, 50, kFpdu, 8100);
  cable.impair([&](unsigned direction, Frame& f) {
    const Seen s{direction, 0, Bytes(f.data(), f.data() + f.bytes)};
    return clk.now() < 7000 || (s.u16(34) != 4791 && s.u16(36) != 4791);
  });
  run(42'000);
  EXPECT_EQ(b.deframer.stream[1], counting_bytes(50 * kFpdu)) << "before the first timeout";
  EXPECT_EQ(memory.held(FlowId{0}).octets, 2 * kFpdu);
  EXPECT_EQ(memory.held(FlowId{1}).octets, 0u);
  run_until_idle(1'000'000'000);
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kConnected, Kind::kReset));
  expect_nothing_left();
}

TEST_F(TcpMemoryTest, AFlowThatIsAbortedGivesAllBackAndSoDoFpdusThatComeLater) {
  connect_rdma();
  a.segmenter.send(kFlow, 2, kFpdu, 5000);
  a.segmenter.send(kFlow, 1, kFpdu, 9000);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 4500; });
  a.firmware.abort(kFlow, 7000);
  run(6900);
  EXPECT_EQ(memory.used().octets, 2 * kFpdu);
  run_until_idle();
  EXPECT_EQ(a.tcp_tx.counters().fpdus_dropped, 1u);
  expect_nothing_left();
}

TEST_F(TcpMemoryTest, APeersResetGivesAllBack) {
  connect_rdma();
  a.segmenter.send(kFlow, 10, kFpdu, 5000);
  b.firmware.abort(kFlow, 5600);
  run_until_idle();
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kReset));
  expect_nothing_left();
}

TEST_F(TcpMemoryTest, SynAndFinHaveARecordEachUntilTheyAreAcknowledged) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000, 4791);
  cable.impair([&](unsigned, Frame&) { return clk.now() > 1000; });
  run(800);
  EXPECT_EQ(memory.used().records, 1u);
  run(300'000);
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected));
  EXPECT_EQ(memory.used().records, 0u);
  a.firmware.enter_rdma(kFlow);
  a.firmware.close(kFlow);
  run(200);
  EXPECT_EQ(memory.used().records, 1u);
  EXPECT_EQ(memory.used().octets, 0u);
  run(3000);
  expect_nothing_left();
}

// The octets of the connection's set-up count, and wait for nothing.
TEST_F(TcpMemoryTest, OctetsOfAStreamDoNotWait) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000, 4791);
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) {
      for (unsigned i = 0; i < 5; ++i) a.firmware.send(e.flow(), counting_bytes(2000));
    }
  };
  run(3000);
  EXPECT_EQ(memory.counters().octets_max, 10'000u);
  EXPECT_EQ(memory.counters().records_max, 10u) << "of 1460 and 540 octets";
  EXPECT_EQ(memory.counters().waits, 0u);
  run_until_idle();
  EXPECT_EQ(memory.used().octets, 0u);
}

// tcp_tx alone: two FPDUs of 1460 octets, with room for no more.
class PiecesInMemory : public TcpTxTest {
 protected:
  PiecesInMemory() { dut.keep_in(memory); }
  void SetUp() override {
    TcpTxTest::SetUp();
    EXPECT_EQ(memory.used().records, 0u) << "the SYN is acknowledged";
    for (unsigned i = 0; i < 2; ++i) {
      memory.take(kOneFlow, 1460);
      fpdus.send(fpdu(1460));
    }
    run();
    ASSERT_EQ(frames.size(), 2u);
  }
  std::pair<std::uint32_t, std::uint32_t> used() const { return {memory.used().octets, memory.used().records}; }
  void acknowledge(std::uint32_t octets) {
    feedback.send(ack(kIss + 1 + octets));
    run(100);
  }
  llp::TransmitMemory memory{clk, {2920, 2}, FlowId{0}, 8};
};

// Each piece is given back with its own octets and record.
TEST_F(PiecesInMemory, OfAShorterPathAreKeptAndGivenBackOneByOne) {
  RxFeedback report = ack(kIss + 1);
  report.acks = false;
  report.seq = kIss + 1;
  report.path_mtu = 576;
  feedback.send(report);
  run(100);
  EXPECT_EQ(dut.counters().cuts, 4u);
  EXPECT_EQ(used(), std::pair(2920u, 6u)) << "of 536, 536 and 388 octets";
  EXPECT_EQ(memory.counters().records_max, 6u);
  acknowledge(535);
  EXPECT_EQ(used(), std::pair(2920u, 6u)) << "an octet of the first piece is missing";
  acknowledge(536);
  EXPECT_EQ(used(), std::pair(2920u - 536, 5u));
  acknowledge(1459);
  EXPECT_EQ(used(), std::pair(1460u + 388, 4u));
  acknowledge(2920);
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

TEST_F(PiecesInMemory, OfAFlowThatIsReleasedAreGivenBack) {
  RxFeedback report = ack(kIss + 1);
  report.acks = false;
  report.seq = kIss + 1;
  report.path_mtu = 576;
  feedback.send(report);
  run(100);
  acknowledge(536);
  command(TxCommand::Kind::kRelease);
  run(100);
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

// The number's next connection begins before the last FPDUs of the one before come.
TEST_F(PiecesInMemory, ANumberUsedAgainHoldsNothingOfItsLastConnection) {
  memory.take(kOneFlow, 500);
  command(TxCommand::Kind::kAbort);
  run(100);
  EXPECT_EQ(used(), std::pair(500u, 1u));
  TxCommand again = command_of(TxCommand::Kind::kOpen);
  again.key = kKey;
  again.peer_mac = kMacA;
  again.seq = 7000;
  again.agreed = plain_terms();
  commands.send(again);
  fpdus.send(fpdu(500));
  run(100);
  EXPECT_EQ(dut.counters().fpdus_dropped, 1u);
  EXPECT_EQ(used(), std::pair(0u, 1u)) << "its SYN";
  command(TxCommand::Kind::kAbort);
  run(100);
  EXPECT_EQ(used(), std::pair(0u, 0u));
}

// ---- Order of calls

TEST_F(TcpMemoryTest, ShuffledCallsGiveTheSameFramesAtTheSameTime) {
  ClockDomain other("shuffled", {});
  other.shuffle(5);
  TcpNetwork shuffled("shuffled_", other, other, small(1), small(2));
  llp::TransmitMemory its(other, {4 * kFpdu, 1000}, FlowId{0}, 8);
  its.serve(shuffled.a.segmenter);
  shuffled.a.segmenter.memory = &its;
  shuffled.a.tcp_tx.keep_in(its);
  for (TcpNetwork* n : {&net, &shuffled}) {
    n->connect_rdma();
    n->cable.impair([](unsigned direction, Frame& f) { return f.bytes < 100 || mix64(f.data()[19] + direction) % 16; });
    n->a.segmenter.send(kFlow, 60, kFpdu, 5000);
  }
  run_until_idle(100'000'000);
  EXPECT_GT(a.tcp_tx.counters().retransmissions, 0u);
  ASSERT_EQ(wire.seen.size(), shuffled.wire.seen.size());
  for (std::size_t i = 0; i < wire.seen.size(); ++i) EXPECT_EQ(wire.seen[i].ps, shuffled.wire.seen[i].ps);
  EXPECT_EQ(memory.counters().wait_cycles, its.counters().wait_cycles);
}

}  // namespace
}  // namespace rnic::test
