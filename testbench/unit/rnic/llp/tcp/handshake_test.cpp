// Opening, refusing and closing connections, frame by frame.
#include <map>
#include <set>

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Kind = TcpEvents;
using Reason = fw::OpenFailure;

std::uint16_t sum16(const Bytes& bytes, std::size_t from, std::size_t to, std::uint32_t sum = 0) {
  for (std::size_t i = from; i < to; i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | (i + 1 < to ? bytes[i + 1] : 0));
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

class HandshakeTest : public TcpTest {};

TEST_F(HandshakeTest, ThreeSegmentsOpenAConnection) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000, 4791);
  run_until_idle();
  ASSERT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A"));

  const LlpEvent& connected = a.firmware.events.at(0);
  EXPECT_EQ(connected.kind(), Kind::kConnected);
  EXPECT_EQ(connected.cookie(), 0xc00c1eu);
  EXPECT_EQ(connected.segment_limit(), 1460);
  EXPECT_EQ(connected.port(), 4791);
  const LlpEvent& accepted = b.firmware.events.at(0);
  EXPECT_EQ(accepted.kind(), Kind::kAccepted);
  EXPECT_EQ(accepted.peer_ip(), kIpA);
  EXPECT_EQ(accepted.peer_port(), 4791);
  EXPECT_EQ(accepted.port(), 5000);
  EXPECT_EQ(accepted.segment_limit(), 1460);
}

// Connections arrive faster than the firmware answers, so both links between it and TCP fill up.
TEST_F(HandshakeTest, OperationsPassWhileEventsWait) {
  b.firmware.finishes_first = true;
  b.firmware.on_event = [this](const LlpEvent&) {
    for (std::uint16_t port = 6000; port < 6040; ++port) b.firmware.listen(port);
  };
  b.firmware.listen(5000);
  for (std::uint16_t local = 4791; local < 4799; ++local) a.firmware.open(kIpB, 5000, local);
  run_until_idle();
  EXPECT_EQ(b.firmware.kinds(), std::vector<LlpEvent::Kind>(8, Kind::kAccepted));
}

TEST_F(HandshakeTest, EveryOctetOfTheSynIsAsTheRfcsSay) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000, 4791);
  run_until_idle();
  Bytes syn = wire.seen.at(0).frame;
  // Sequence number and checksums vary with the seed: checked, then blanked.
  EXPECT_EQ(sum16(syn, 14, 34), 0xffff);
  EXPECT_EQ(sum16(syn, 26, syn.size(), 6 + 32), 0xffff);
  for (std::size_t i : {24, 25, 38, 39, 40, 41, 50, 51}) syn[i] = 0;
  const Bytes expected = {
      2,    0,    0, 0, 0,    0x0b, 2, 0,    0,    0,    0,    0x0a, 0x08,  // Ethernet
      0x00, 0x45, 0, 0, 52,   0,    0, 0x40, 0,    64,   6,    0,    0,     // IPv4, DF
      10,   0,    0, 1, 10,   0,    0, 2,    0x12, 0xb7, 0x13, 0x88,        // ports
      0,    0,    0, 0, 0,    0,    0, 0,    0x80, 0x02, 0xff, 0xff, 0,    0,
      0,    0,    2, 4, 0x05, 0xb4, 1, 3,    3,    2,    1,    1,    4,    2};  // MSS 1460, NOP, window scale 2, SACK
                                                                                // permitted
  EXPECT_EQ(syn, expected);
  const Bytes& syn_ack = wire.seen.at(1).frame;
  EXPECT_EQ(Bytes(syn_ack.begin() + 54, syn_ack.end()), (Bytes{2, 4, 0x05, 0xb4, 1, 3, 3, 2, 1, 1, 4, 2}));
  EXPECT_EQ(wire.seen[1].ack(), wire.seen[0].seq() + 1);
  EXPECT_EQ(wire.seen[2].seq(), wire.seen[0].seq() + 1);
  EXPECT_EQ(wire.seen[2].ack(), wire.seen[1].seq() + 1);
  EXPECT_EQ(wire.seen[2].window(), 131072 >> 2);
}

// RFC 6528 section 3: a 4-us clock advances the numbers between the same four, and they are unrelated between others.
TEST_F(HandshakeTest, InitialSequenceNumbersAreAClockAndAStartThatNobodyKnows) {
  std::map<std::uint16_t, std::vector<std::pair<std::uint64_t, std::uint32_t>>> drawn;  // time in us, number; by port
  for (unsigned i = 0; i < 12; ++i) {
    const auto local = static_cast<std::uint16_t>(4791 + i % 4);
    a.firmware.open(kIpB, 5000, local);  // refused: the port is free again
    run_until_idle();
    const Seen& syn = wire.seen.at(2 * i);
    ASSERT_EQ(syn.text(), ">S");
    drawn[local].push_back({syn.ps / 1'000'000, syn.seq()});
    sc_core::sc_start(sc_core::sc_time(100'000 + 7 * i, sc_core::SC_US));
  }
  std::set<std::uint32_t> starts;
  for (const auto& [port, of_port] : drawn) {
    const auto [first_us, first] = of_port.front();
    for (const auto& [us, number] : of_port) EXPECT_NEAR(number - first, static_cast<double>(us - first_us) / 4, 1.0);
    starts.insert((first - static_cast<std::uint32_t>(first_us / 4)) >> 16);
  }
  EXPECT_EQ(starts.size(), drawn.size());
}

TEST_F(HandshakeTest, NobodyListeningRefuses) {
  a.firmware.open(kIpB, 5000);
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<RA"));
  EXPECT_EQ(wire.seen[1].ack(), wire.seen[0].seq() + 1);
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kOpenFailed));
  EXPECT_EQ(a.firmware.events[0].reason(), Reason::kRefused);
  EXPECT_EQ(a.firmware.events[0].cookie(), 0xc00c1eu);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(HandshakeTest, AnUnknownNeighbourCannotBeReached) {
  a.firmware.open(0x0a000063, 5000);
  run_until_idle();
  EXPECT_TRUE(wire.seen.empty());
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kOpenFailed));
  EXPECT_EQ(a.firmware.events[0].reason(), Reason::kTimeout);
}

TEST_F(HandshakeTest, ALostSynIsSentAgainAfterTheInitialTimeout) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  unsigned lost = 2;
  cable.impair([&](unsigned, Frame&) { return lost == 0 || lost-- == 0; });
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A"));
  EXPECT_EQ(a.tcp_tx.counters().timeouts, 2u);
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected));
  EXPECT_NEAR(static_cast<double>(wire.seen[0].ps), 3e9, 1e6);  // 1 ms, then 2 ms
}

TEST_F(HandshakeTest, NoAnswerFailsAfterFiveRetries) {
  unsigned syns = 0;
  cable.impair([&](unsigned, Frame&) {
    ++syns;
    return false;
  });
  a.firmware.open(kIpB, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(syns, 6u);
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kOpenFailed));
  EXPECT_EQ(a.firmware.events[0].reason(), Reason::kTimeout);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(HandshakeTest, TwoOpensThatCrossMakeOneConnection) {
  a.firmware.open(kIpB, 5000, 4791);
  b.firmware.open(kIpA, 4791, 5000);
  run_until_idle();
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kConnected));
}

TEST_F(HandshakeTest, TheSmallerMssCounts) {
  // b announces 1460; a sees 536 because the cable removes the option.
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  cable.impair([&](unsigned direction, Frame& f) {
    if (direction == 0 || !(f.data()[47] & 2)) return true;
    BufferRef copy = pool.take();
    std::copy(f.data(), f.data() + f.bytes, copy->bytes());
    std::uint8_t* mss = copy->bytes() + 54;  // 2, 4, 0x05, 0xb4 becomes four NOPs; the checksum follows
    std::uint32_t sum = (copy->bytes()[50] << 8 | copy->bytes()[51]) + 0x0204u + 0x05b4u;
    mss[0] = mss[1] = mss[2] = mss[3] = 1;
    sum += 2 * (0xffffu - 0x0101u);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    copy->bytes()[50] = static_cast<std::uint8_t>(sum >> 8);
    copy->bytes()[51] = static_cast<std::uint8_t>(sum);
    f = Frame{copy, 0, f.bytes, true};
    return true;
  });
  run_until_idle();
  ASSERT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected));
  EXPECT_EQ(a.firmware.events[0].segment_limit(), 536);
  EXPECT_EQ(b.firmware.events[0].segment_limit(), 1460);
}

TEST_F(HandshakeTest, ClosingInOrder) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.close(e.flow(), 2000);
  };
  b.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kPeerClosed) b.firmware.close(e.flow());
  };
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A", ">FA", "<A", "<FA", ">A"));
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kClosed));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kPeerClosed, Kind::kClosed));
  a.firmware.events.clear();
  b.firmware.events.clear();
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(HandshakeTest, BothCloseAtOnce) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.close(e.flow(), 2000);
  };
  b.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kAccepted) b.firmware.close(e.flow(), 2000);
  };
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A", ">FA", "<FA", ">A", "<A"));
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected, Kind::kClosed));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kClosed));
}

TEST_F(HandshakeTest, ALostLastAckIsRepeatedOutOfTimeWait) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.close(e.flow(), 2000);
  };
  b.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kPeerClosed) b.firmware.close(e.flow());
  };
  bool lost = false;
  cable.impair([&](unsigned direction, Frame&) {
    if (direction == 0 && !b.firmware.events.empty() && b.firmware.events.back().kind() == Kind::kPeerClosed && !lost) {
      lost = true;
      return false;
    }
    return true;
  });
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A", ">FA", "<A", "<FA", "<FA", ">A"));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kPeerClosed, Kind::kClosed));
  EXPECT_EQ(b.tcp_tx.counters().retransmissions, 1u);
}

TEST_F(HandshakeTest, AbortSendsOneRstAndForgets) {
  b.firmware.listen(5000);
  a.firmware.open(kIpB, 5000);
  a.firmware.on_event = [this](const LlpEvent& e) {
    if (e.kind() == Kind::kConnected) a.firmware.abort(e.flow(), 2000);
  };
  run_until_idle();
  EXPECT_THAT(wire.texts(), ElementsAre(">S", "<SA", ">A", ">RA"));
  EXPECT_THAT(a.firmware.kinds(), ElementsAre(Kind::kConnected));
  EXPECT_THAT(b.firmware.kinds(), ElementsAre(Kind::kAccepted, Kind::kReset));
}

TEST_F(HandshakeTest, FlowsAreUsedAgainAfterTheyAreGone) {
  b.firmware.listen(5000);
  unsigned opened = 0;
  a.firmware.open(kIpB, 5000, 6000);
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    a.firmware.abort(e.flow());
    if (++opened < 40) a.firmware.open(kIpB, 5000, static_cast<std::uint16_t>(6000 + opened), clk.now() + 1000);
  };
  run_until_idle();
  EXPECT_EQ(opened, 40u);
  EXPECT_EQ(b.connection.counters().accepted, 40u);
  EXPECT_EQ(b.connection.counters().no_flow, 0u);
}

// The flow number stands for another connection by now.
TEST_F(HandshakeTest, AnOperationForAnEarlierConnectionHasNoEffect) {
  b.firmware.listen(5000);
  std::vector<LlpEvent> opened;
  a.firmware.open(kIpB, 5000, 6000);
  a.firmware.on_event = [&](const LlpEvent& e) {
    if (e.kind() != Kind::kConnected) return;
    opened.push_back(e);
    if (opened.size() != 1 && e.flow() == opened[0].flow()) return;
    a.firmware.abort(e.flow());
    a.firmware.open(kIpB, 5000, static_cast<std::uint16_t>(6000 + opened.size()), clk.now() + 1000);
  };
  run_until_idle();
  const std::size_t segments = wire.texts().size();
  const FlowId flow = opened[0].flow();
  const std::uint16_t life = opened.front().life();
  for (LlpOp op :
       {LlpOp(fw::TcpStreamSend{flow, {0, 20}, life}, pool.take()), LlpOp(fw::TcpStreamRead{flow, {0, 20}, life}),
        LlpOp(fw::TcpSetLimits{flow, {1, abi::KeepAlive::kOn}, life}), LlpOp(fw::TcpEnterRdma{flow, life}),
        LlpOp(fw::TcpClose{flow, life}), LlpOp(fw::TcpAbort{flow, life})}) {
    a.firmware.push(std::move(op));
    run_until_idle();
  }
  EXPECT_EQ(wire.texts().size(), segments);
  EXPECT_EQ(a.connection.counters().ops_ignored, 6u);
  a.firmware.push(fw::TcpAbort{flow, opened.back().life()});
  run_until_idle();
  EXPECT_EQ(wire.texts().back(), ">RA");
}

// Whatever both ends do, and whatever is lost, every flow is free again at the end.
TEST_F(HandshakeTest, ConnectionsThatEndInAnyWayLeaveNothingBehind) {
  Prng prng(31);
  cable.impair([&](unsigned, Frame&) { return prng.below(10) != 0; });
  const auto any_end = [&prng](Firmware& fw) {
    return [&prng, &fw](const LlpEvent& e) {
      const Cycle now = fw.clock().now();
      if (e.kind() == Kind::kPeerClosed) fw.close(e.flow(), now + prng.below(2000));
      if (e.kind() != Kind::kConnected && e.kind() != Kind::kAccepted) return;
      switch (prng.below(5)) {
        case 0:
          fw.send(e.flow(), counting_bytes(1 + prng.below(1999)));
          fw.close(e.flow());
          break;
        case 1:
          fw.abort(e.flow(), now + prng.below(500));
          break;
        case 2:
          fw.enter_rdma(e.flow(), now + prng.below(500));
          fw.close(e.flow(), now + prng.below(5000));
          break;
        case 3:
          fw.read(e.flow(), 20);
          break;
        default:
          break;
      }
      fw.abort(e.flow(), now + 4'000'000);  // if neither end has closed it
    };
  };
  a.firmware.on_event = any_end(a.firmware);
  b.firmware.on_event = any_end(b.firmware);
  b.firmware.listen(5000);
  for (unsigned i = 0; i < 300; ++i) a.firmware.open(kIpB, 5000, 0, i * 400'000);
  run_until_idle(4'000'000'000);
  EXPECT_GT(a.connection.counters().opened, 200u);
  EXPECT_GT(b.connection.counters().accepted, 200u);
  EXPECT_EQ(a.connection.waiting_for() + b.connection.waiting_for(), "");

  // All numbers are available again.
  cable.impair({});
  a.firmware.on_event = b.firmware.on_event = {};
  a.firmware.events.clear();
  b.firmware.events.clear();
  EXPECT_EQ(pool.in_use(), 0u);
  for (unsigned i = 0; i < 8; ++i) a.firmware.open(kIpB, 5000);
  run_until_idle();
  EXPECT_EQ(a.firmware.kinds(), std::vector<LlpEvent::Kind>(8, Kind::kConnected));
  EXPECT_EQ(b.firmware.kinds(), std::vector<LlpEvent::Kind>(8, Kind::kAccepted));
}

}  // namespace
}  // namespace rnic::test
