// Octets through an established connection: the switch to RDMA, windows, acknowledgements, losses.
#include <tuple>

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = TcpEvents;

constexpr FlowId kFlow{0};  // the first of each chip

class DataTest : public TcpTest {
 protected:
  using TcpTest::TcpTest;
  std::vector<Seen> payloads(unsigned direction) const {
    std::vector<Seen> p;
    for (const Seen& s : wire.seen) {
      if (s.direction == direction && s.payload() != 0) p.push_back(s);
    }
    return p;
  }
};

// ---- Cycles

TEST_F(DataTest, AFrameLeavesTxCyclesAfterTheLastBeatOfItsFpdu) {
  connect_rdma();
  a.segmenter.send(kFlow, 1, 1460, 5000);
  run_until_idle();
  ASSERT_EQ(payloads(0).size(), 1u);
  // The last beat is pushed at p and reaches tcp_tx at p + 1. Its frame reaches mac_tx tx_cycles later, which sends it
  // at once.
  const Cycle start = a.segmenter.pushed_at.at(0) + 1 + TcpConfig{}.tx_cycles;
  const std::uint64_t on_line = (8 + 14 + 1500 + 4) * 80;
  EXPECT_EQ(payloads(0)[0].ps, start * 4000 + on_line + 500'000);
}

TEST_F(DataTest, BeatsLeaveRxCyclesAfterTheirCycleInTcpRx) {
  connect_rdma();
  a.segmenter.send(kFlow, 1, 1460, 5000);
  run_until_idle();
  const Cycle arrival = (payloads(0).at(0).ps + 3999) / 4000;
  // mac_rx takes it at its arrival, tcp_rx a cycle later, and the row of its flow is there after the look-up and a
  // read; the headers take one cycle, each beat one more.
  ASSERT_EQ(b.deframer.beats.size(), 23u);
  for (std::size_t i = 0; i < 23; ++i)
    EXPECT_EQ(b.deframer.cycles[i], arrival + 1 + kToFlowRow + 1 + TcpConfig{}.rx_cycles + i);
  EXPECT_EQ(b.deframer.beats[0].bytes, 64);
  EXPECT_EQ(b.deframer.beats[22].bytes, 1460 - 22 * 64);
  EXPECT_TRUE(b.deframer.beats[0].first);
  EXPECT_TRUE(b.deframer.beats[22].last);
  EXPECT_FALSE(b.deframer.beats[21].last);
}

TEST_F(DataTest, FullFramesFollowEachOtherAtLineRate) {
  connect_rdma();
  a.segmenter.send(kFlow, 200, 1460, 5000);
  run_until_idle();
  const std::vector<Seen> sent = payloads(0);
  ASSERT_EQ(sent.size(), 200u);
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_EQ(sent[i].ps - sent[i - 1].ps, 1538u * 80) << i;
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(200 * 1460));
  EXPECT_EQ(a.tcp_tx.counters().retransmissions, 0u);
  expect_all_returned();
}

TEST_F(DataTest, EverySecondSegmentIsAcknowledgedAtOnceAndALoneOneAfterTheDelay) {
  connect_rdma();
  a.segmenter.send(kFlow, 3, 1460, 5000);
  run_until_idle();
  const std::vector<Seen> sent = payloads(0);
  const std::uint32_t start = sent.at(0).seq();
  std::vector<std::pair<std::uint32_t, Cycle>> acks;  // octets, cycles from the arrival of the segment
  for (const Seen& s : wire.seen) {
    if (s.direction != 1 || s.ack() == start) continue;
    if (s.flags() & 2) continue;
    const std::uint32_t octets = s.ack() - start;
    const Seen& cause = sent.at(octets / 1460 - 1);
    const std::uint64_t left = s.ps - 500'000 - (8 + 64) * 80;
    acks.emplace_back(octets, left / 4000 - (cause.ps + 3999) / 4000);
  }
  // mac_rx, tcp_rx with the row, the flow's row in tcp_tx, then tx_cycles to mac_tx. The delay is 125 cycles from the
  // second row on, and its end needs that row again.
  const Cycle row = TableConfig{}.read_cycles;
  const Cycle at_once = 2 + kToFlowRow + row + TcpConfig{}.tx_cycles;
  EXPECT_THAT(acks, ElementsAre(std::pair(2 * 1460u, at_once), std::pair(3 * 1460u, at_once + 125 + row)));
}

TEST_F(DataTest, DataCarriesTheAcknowledgementThatIsOwed) {
  connect_rdma();
  a.segmenter.send(kFlow, 1, 64, 5000);
  b.segmenter.send(kFlow, 1, 64, 5150);  // within the delay of the ACK
  run_until_idle();
  const auto before = static_cast<std::size_t>(3);
  std::vector<std::string> texts = wire.texts();
  texts.erase(texts.begin(), texts.begin() + before);
  EXPECT_THAT(texts, ElementsAre(">PA64", "<PA64", ">A"));
  EXPECT_EQ(payloads(1).at(0).ack(), payloads(0).at(0).seq() + 64);
}

TEST_F(DataTest, AcknowledgedWorkRequestsAreReported) {
  connect_rdma();
  a.segmenter.send(kFlow, 7, 1024, 5000);
  run_until_idle();
  EXPECT_EQ(a.segmenter.wqes[0], 7u);
}

TEST_F(DataTest, CreditIsTheWindowThatThePeerGave) {
  connect_rdma();
  b.segmenter.send(kFlow, 1, 64, 5000);
  sc_core::sc_start(sc_core::sc_time(4000 * 4, sc_core::SC_NS));
  EXPECT_EQ(a.segmenter.granted[0], 65535u);       // a knows only the SYN's window, which is never scaled
  EXPECT_EQ(b.segmenter.granted[0], 128u * 1024);  // from the last ACK of the handshake
  run_until_idle();
  EXPECT_EQ(a.segmenter.granted[0], 128u * 1024);
  EXPECT_EQ(b.segmenter.granted[0], 128u * 1024);  // the next segment advertises this small new room
}

TEST_F(DataTest, AnIdleConnectionCausesNoKernelEvent) {
  connect_rdma();
  a.segmenter.send(kFlow, 10, 1460, 5000);
  run_until_idle();
  const auto activations = clk.activity().activations;
  sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_SEC));
  EXPECT_EQ(clk.activity().activations, activations);
}

TEST_F(DataTest, AnIdleFlowIsSmall) {
  const std::size_t bytes = TcpConnection::bytes_per_flow() + TcpTx::bytes_per_flow() + TcpRx::bytes_per_flow();
  EXPECT_EQ(bytes, 521u) << TcpConnection::bytes_per_flow() << ' ' << TcpTx::bytes_per_flow() << ' '
                         << TcpRx::bytes_per_flow();
}

// However long a row takes, frames follow each other, and nothing is lost.
class SlowRows : public DataTest {
 protected:
  static TcpConfig slow(std::uint64_t seed) {
    TcpConfig c = small(seed);
    c.flow_rx_table.read_cycles = 8;
    return c;
  }
  SlowRows() : DataTest(slow(1), slow(2)) {}
};

TEST_F(SlowRows, KeepTheRateOfTheLine) {
  connect_rdma();
  a.segmenter.send(kFlow, 200, 1460, 5000);
  run_until_idle();
  const std::vector<Seen> sent = payloads(0);
  ASSERT_EQ(sent.size(), 200u);
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_EQ(sent[i].ps - sent[i - 1].ps, 1538u * 80) << i;
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(200 * 1460));
  expect_all_returned();
}

TEST_F(SlowRows, LoseNothingWhereTheLineDoes) {
  connect_rdma();
  Prng prng(3);
  cable.impair([&](unsigned, Frame&) { return prng.below(20) != 0; });
  a.segmenter.send(kFlow, 300, 1460, 5000);
  b.segmenter.send(kFlow, 300, 64, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(300 * 1460));
  EXPECT_EQ(a.deframer.stream[0], counting_bytes(300 * 64));
  EXPECT_GT(b.tcp_rx.counters().out_of_order, 0u);
  expect_all_returned();
}

// ---- Windows

// Compares the right edges that one end announced with what the other sent.
void expect_window_kept(const std::vector<Seen>& seen, unsigned sender, unsigned scale) {
  std::uint32_t edge = 0;
  bool known = false;
  for (const Seen& s : seen) {
    if (s.direction != sender) {
      edge = s.ack() + (std::uint32_t{s.window()} << (s.flags() & 2 ? 0 : scale));
      known = true;
    } else if (s.payload() != 0) {
      ASSERT_TRUE(known);
      EXPECT_LE(static_cast<std::int32_t>(s.seq() + s.payload() - edge), 0);
    }
  }
}

class StalledReceiver : public DataTest {
 protected:
  static TcpConfig tight(std::uint64_t seed) {
    TcpConfig c = small(seed);
    c.window_bytes = 16384;
    return c;
  }
  StalledReceiver() : DataTest(tight(1), tight(2)) {}
};

TEST_F(StalledReceiver, TheWindowIsNeverExceededAndOpensAgain) {
  connect_rdma();
  b.deframer.pause = window(0, 40'000);
  a.segmenter.send(kFlow, 100, 1460, 5000);
  run_until_idle();
  expect_window_kept(wire.seen, 0, 0);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(100 * 1460));
  EXPECT_EQ(b.tcp_rx.counters().beyond_window, 0u);
  EXPECT_EQ(a.tcp_tx.counters().retransmissions, 0u);
  expect_all_returned();
}

TEST_F(StalledReceiver, ALostWindowUpdateIsAskedFor) {
  connect_rdma();
  b.deframer.hold_until = 40'000;
  a.segmenter.send(kFlow, 40, 1460, 5000);
  unsigned lost = 0;
  cable.impair([&](unsigned direction, Frame&) {
    const bool update = direction == 1 && clk.now() >= 40'000 && lost == 0;
    lost += update;
    return !update;
  });
  run_until_idle();
  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(a.tcp_tx.counters().retransmissions, 0u);
  EXPECT_GE(a.tcp_tx.counters().probes, 1u);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(40 * 1460));
}

TEST_F(StalledReceiver, AClosedWindowIsAskedForeverAndNeverGivenUp) {
  connect_rdma();
  b.deframer.hold_until = 200'000'000;  // 0.8 s; eight unanswered probes would take 51 ms
  a.segmenter.send(kFlow, 20, 1460, 5000);
  run_until_idle(1'000'000'000);
  EXPECT_GT(a.tcp_tx.counters().probes, 8u);
  EXPECT_EQ(a.connection.counters().resets, 0u);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(20 * 1460));
}

class SmallWindows : public DataTest {
 protected:
  static TcpConfig smallest(std::uint64_t seed) {
    TcpConfig c = small(seed);
    c.window_bytes = 4096;
    return c;
  }
  SmallWindows() : DataTest(smallest(1), smallest(2)) {}
};

// Both ends avoid silly windows, and neither waits for the other.
TEST_F(SmallWindows, OpenInTime) {
  connect_rdma();
  std::size_t octets = 0;
  for (unsigned i = 0; i < 300; ++i) {
    const std::uint32_t bytes = i % 3 == 0 ? 1460 : 4 * (1 + i * 37 % 364);
    a.segmenter.send(kFlow, 1, bytes, 5000);
    octets += bytes;
  }
  run_until_idle();
  expect_window_kept(wire.seen, 0, 0);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(octets));
  EXPECT_EQ(a.tcp_tx.counters().probes, 0u);
  EXPECT_EQ(a.tcp_tx.counters().timeouts, 0u);
  EXPECT_EQ(a.tcp_tx.counters().cuts, 0u);
  expect_all_returned();
}

// ---- Losses

TEST_F(DataTest, ALostSegmentIsSentAgainAfterThreeDuplicateAcks) {
  connect_rdma();
  a.segmenter.send(kFlow, 10, 1460, 5000);
  unsigned n = 0;
  cable.impair([&](unsigned direction, Frame& f) { return direction == 1 || f.bytes < 100 || ++n != 4; });
  run_until_idle();
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(10 * 1460));
  EXPECT_EQ(a.tcp_tx.counters().retransmissions, 1u);
  EXPECT_EQ(a.tcp_tx.counters().fast_retransmits, 1u);
  EXPECT_EQ(a.tcp_tx.counters().timeouts, 0u);
  EXPECT_EQ(b.tcp_rx.counters().out_of_order, 6u);
  EXPECT_EQ(a.tcp_tx.counters().duplicate_acks, 5u);  // the first of six also acknowledges the third segment
  EXPECT_EQ(a.segmenter.wqes[0], 10u);
  expect_all_returned();
}

TEST_F(DataTest, RandomLossInBothDirectionsLosesNothing) {
  connect_rdma();
  Prng prng(7);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 3000 || prng.below(20) != 0; });
  a.segmenter.send(kFlow, 200, 1460, 5000);
  b.segmenter.send(kFlow, 100, 516, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(200 * 1460));
  EXPECT_EQ(a.deframer.stream[0], counting_bytes(100 * 516));
  EXPECT_EQ(a.segmenter.wqes[0], 200u);
  EXPECT_EQ(b.segmenter.wqes[0], 100u);
  expect_all_returned();
}

class EagerReceiver : public DataTest {
 protected:
  static TcpConfig eager(std::uint64_t seed) {
    TcpConfig c = small(seed);
    c.ack_every = 1;
    return c;
  }
  EagerReceiver() : DataTest(eager(1), eager(2)) {}
};

// RFC 5681 section 4.2: never more, whatever is missing or comes twice.
TEST_F(EagerReceiver, AcknowledgesEachSegmentOnce) {
  connect_rdma();
  Prng prng(11);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 3000 || prng.below(10) != 0; });
  a.segmenter.send(kFlow, 300, 1460, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.tcp_tx.counters().pure_acks, payloads(0).size());
  EXPECT_GT(b.tcp_rx.counters().out_of_order, 100u);
  EXPECT_GT(b.tcp_rx.counters().duplicates, 0u);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(300 * 1460));
}

TEST_F(DataTest, DuplicatedAndCorruptedFramesChangeNothing) {
  connect_rdma();
  Prng prng(9);
  cable.impair([&](unsigned, Frame& f) {
    if (clk.now() < 3000 || prng.below(10) != 0) return true;
    BufferRef copy = pool.take();
    std::copy(f.data(), f.data() + f.bytes, copy->bytes());
    copy->bytes()[14 + prng.below(f.bytes - 14)] ^= static_cast<std::uint8_t>(1u << prng.below(8));
    f = Frame{copy, 0, f.bytes, true};  // the FCS was right: only TCP can detect the error
    return true;
  });
  a.segmenter.send(kFlow, 100, 1460, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(100 * 1460));
  EXPECT_GT(b.tcp_rx.counters().bad_checksum, 0u);
}

TEST_F(DataTest, APeerThatNoLongerAnswersIsGivenUp) {
  connect_rdma();
  a.segmenter.send(kFlow, 3, 1460, 5000);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 4000; });
  run_until_idle(100'000'000);
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kReset));
  EXPECT_EQ(a.tcp_tx.counters().timeouts, 8u);
  expect_all_returned();
}

// Two connections of one chip, with different limits.
TEST_F(DataTest, OfTwoSilentPeersEachIsGivenUpAtItsOwnTime) {
  connect_rdma();
  a.firmware.open(kIpB, 5000, 4792);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    if (e.port() == 4792) a.firmware.set_limits(e.flow(), {3, abi::KeepAlive::kDevice});
    a.firmware.enter_rdma(e.flow());
  };
  for (const unsigned flow : {0u, 1u}) a.segmenter.send(FlowId{flow}, 1, 1460, 8000);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 8000; });
  run_until_idle(100'000'000);
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kConnected, Kind::kReset, Kind::kReset));
  const Cycle rto = TcpConfig{}.rto_min_us * 250;  // of 4 ns
  const auto waited = [&](std::size_t event) { return a.firmware.cycles[event] - 8000; };
  EXPECT_EQ(a.firmware.events[0].port(), 4791);
  EXPECT_EQ(a.firmware.events[2].flow(), a.firmware.events[1].flow());
  EXPECT_NEAR(static_cast<double>(waited(2)), static_cast<double>(rto * 15), 2000.0) << "1 + 2 + 4 + 8";
  EXPECT_EQ(a.tcp_tx.counters().timeouts, 8u + 3u);
  expect_all_returned();
}

TEST_F(DataTest, OfTwoIdlePeersOneIsAsked) {
  connect_rdma();
  a.firmware.open(kIpB, 5000, 4792);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    if (e.port() == 4792) a.firmware.set_limits(e.flow(), {0, abi::KeepAlive::kOn});
    a.firmware.enter_rdma(e.flow());
  };
  sc_core::sc_start(sc_core::sc_time(8000 * 4, sc_core::SC_NS));
  wire.seen.clear();
  sc_core::sc_start(sc_core::sc_time(7200, sc_core::SC_SEC));
  EXPECT_EQ(a.tcp_tx.counters().keepalives, 1u);
  ASSERT_FALSE(wire.seen.empty());
  for (const Seen& s : wire.seen) EXPECT_EQ(s.u16(s.direction == 0 ? 34 : 36), 4792);
}

TEST_F(DataTest, FpdusOfAFlowThatIsGoneAreDropped) {
  connect_rdma();
  a.segmenter.send(kFlow, 1, 1460, 5000);
  a.segmenter.send(kFlow, 1, 1460, 9000);
  a.firmware.abort(kFlow, 7000);
  run_until_idle();
  EXPECT_EQ(a.tcp_tx.counters().fpdus_dropped, 1u);
  EXPECT_EQ(b.deframer.stream[0].size(), 1460u);
  expect_all_returned();
}

TEST_F(DataTest, TheFinComesAfterAllThatWasHandedOver) {
  connect_rdma();
  a.segmenter.send(kFlow, 20, 1460, 5000);
  a.firmware.close(kFlow, 5800);  // all FPDUs are in the queue, some are not on the line yet
  b.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.enter_rdma(e.flow());
    if (e.kind() == Kind::kPeerClosed) b.firmware.close(e.flow());
  };
  run_until_idle();
  EXPECT_EQ(b.deframer.stream[0].size(), 20u * 1460 - 1460u * a.tcp_tx.counters().fpdus_dropped);
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kClosed));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kPeerClosed, Kind::kClosed));
  expect_all_returned();
}

// ---- Order of calls, run-ahead

using Trace = std::vector<std::tuple<std::uint64_t, unsigned, Bytes>>;

// The frames in time order. Two at the same time, one in each direction, have no order.
Trace trace(const Recorder& wire) {
  Trace t;
  for (const Seen& s : wire.seen) t.emplace_back(s.ps, s.direction, s.frame);
  std::sort(t.begin(), t.end());
  return t;
}

void lossy_traffic(TcpNetwork& net) {
  net.connect_rdma();
  net.cable.impair([](unsigned direction, Frame& f) { return f.bytes < 100 || mix64(f.data()[19] + direction) % 16; });
  net.a.segmenter.send(kFlow, 60, 1460, 5000);
  net.b.segmenter.send(kFlow, 60, 260, 5000);
  net.a.firmware.close(kFlow, 1'000'000);
  net.b.firmware.close(kFlow, 1'000'000);
}

class OrderTest : public DataTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(OrderTest, ShuffledCallsGiveTheSameFramesAtTheSameTime) {
  ClockDomain other("shuffled", {});
  other.shuffle(GetParam());
  TcpNetwork shuffled("shuffled_", other, other, small(1), small(2));
  lossy_traffic(net);
  lossy_traffic(shuffled);
  run_until_idle(100'000'000);
  EXPECT_GT(a.tcp_tx.counters().retransmissions, 0u);
  EXPECT_EQ(trace(wire), trace(shuffled.wire));
}
INSTANTIATE_TEST_SUITE_P(Seeds, OrderTest, testing::Values(1, 2, 3));

TEST_F(DataTest, RunningAheadOfTheKernelChangesNothing) {
  ClockDomain clk_a("ahead_a", {4000, 125}), clk_b("ahead_b", {4000, 125});  // as the cable's latency
  TcpNetwork ahead("ahead_", clk_a, clk_b, small(1), small(2));
  lossy_traffic(net);
  lossy_traffic(ahead);
  run_until_idle(100'000'000);
  EXPECT_EQ(trace(wire), trace(ahead.wire));
  EXPECT_LT(clk_a.activity().activations, clk.activity().activations / 4);
}

}  // namespace
}  // namespace rnic::test
