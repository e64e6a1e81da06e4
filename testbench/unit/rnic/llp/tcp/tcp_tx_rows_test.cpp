// tcp_tx and the rows of its flows: what happens to one flow at about the same time, rates, rows that come late.
#include <numeric>
#include <tuple>

#include "testbench/support/contexts.h"
#include "testbench/unit/rnic/llp/tcp/tcp_stages.h"

namespace rnic::test {
namespace {

class RowsTest : public TcpTxTest {
 protected:
  using TcpTxTest::TcpTxTest;
  // As SetUp() does with the first one.
  void establish(FlowId flow) {
    commands.send(open(flow));
    run(100);
    feedback.send(ack(kIss + 1, flow));
    run(100);
    commands.send(command_of(TxCommand::Kind::kEnterRdma, flow));
    run(100);
  }
  void run_until(Cycle cycle) { run(cycle - clk.next()); }
};

// ---- Two things that happen to one flow

enum class Happening { kAck, kOwesAck, kMayWait, kShortFpdu, kLongFpdu, kFin, kAbort, kTimer };
constexpr const char* kHappenings[] = {"Ack", "OwesAck", "MayWait", "ShortFpdu", "LongFpdu", "Fin", "Abort", "Timer"};
constexpr bool is_command(Happening k) { return k == Happening::kFin || k == Happening::kAbort; }

struct Outcome {
  std::vector<std::string> frames, told;
  std::vector<std::uint32_t> state;
  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.frames == b.frames && a.told == b.told && a.state == b.state;
  }
  friend std::ostream& operator<<(std::ostream& os, const Outcome& o) {
    for (const auto& lines : {o.frames, o.told}) {
      for (const std::string& line : lines) os << line << ", ";
      os << "; ";
    }
    for (const std::uint32_t n : o.state) os << n << ' ';
    return os;
  }
};

class PairsTest : public RowsTest, public testing::WithParamInterface<std::tuple<Happening, Happening, unsigned>> {
 protected:
  PairsTest() : RowsTest(impatient(), {std::get<2>(GetParam()), 1, 1}) {}
  static TcpConfig impatient() {
    TcpConfig c;
    c.rto_initial_us = c.rto_min_us = 10;
    return c;
  }

  // A flow of its own with 64 octets in flight, of which both are. `apart`: from the first to the second. The beats of
  // a long FPDU are over when the next thing comes at kFar, and no delayed ACK is.
  static constexpr Cycle kFar = 60;
  Outcome outcome(Happening first, Happening second, Cycle apart) {
    const FlowId flow = begin();
    const Cycle sent = fpdus.cycles().back();
    Cycle at = sent + 500;
    if (first == Happening::kTimer) at = sent + expires_after_;
    if (second == Happening::kTimer) at = sent + expires_after_ - apart;
    happens(flow, first, at);
    happens(flow, second, at + apart);
    run_until(at + apart + 400);
    const Outcome all = outcome_of(flow);
    if (dut.flow_state(flow).open) commands.send(command_of(TxCommand::Kind::kRelease, flow));
    run(100);
    return all;
  }
  // When a timer is due after the FPDU was sent.
  void measure_timer() {
    begin();
    frames.clear();
    run(5000);
    ASSERT_FALSE(frames.empty());
    expires_after_ = frames.cycles()[0] - config.tx_cycles - row_cycles() - fpdus.cycles().back();
  }

 private:
  FlowId begin() {
    const FlowId flow{++flows_};
    establish(flow);
    fpdus.send_at(clk.next() + 10, fpdu(64, flow));
    run(100);
    return flow;
  }
  // tcp_tx takes it in that cycle.
  void happens(FlowId flow, Happening kind, Cycle at) {
    const Cycle from = at - kToEnd;
    switch (kind) {
      case Happening::kAck:
        return feedback.send_at(from, ack(kIss + 1 + 64, flow));
      case Happening::kOwesAck:
        return feedback.send_at(from, data(RxFeedback::Answer::kNow, flow));
      case Happening::kMayWait:
        return feedback.send_at(from, data(RxFeedback::Answer::kSoon, flow));
      case Happening::kShortFpdu:
        return fpdus.send_at(from, fpdu(100, flow));
      case Happening::kLongFpdu:
        return fpdus.send_at(from, fpdu(1000, flow));
      case Happening::kFin:
        return commands.send_at(from, command_of(TxCommand::Kind::kFin, flow));
      case Happening::kAbort:
        return commands.send_at(from, command_of(TxCommand::Kind::kAbort, flow));
      case Happening::kTimer:
        return;
    }
  }
  Outcome outcome_of(FlowId flow) const {
    Outcome o;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const Seen s = seen(i);
      if (s.u16(36) != kKey.peer_port + flow.v) continue;
      o.frames.push_back(s.text() + ' ' + std::to_string(s.seq() - kIss) + ' ' + std::to_string(s.ack() - kPeer));
    }
    for (const TxReport& r : reports) {
      if (r.flow == flow) o.told.push_back(value_words(r.kind)[static_cast<unsigned>(r.kind)]);
    }
    const FlowState s = dut.flow_state(flow);
    o.state = {s.open, s.snd_una, s.unacknowledged, s.congestion_window, s.peer_window, s.repairing};
    o.state.push_back(std::accumulate(credit.begin(), credit.end(), 0u, [flow](std::uint32_t sum, const TxCredit& c) {
      return sum + (c.flow == flow ? c.bytes : 0);
    }));
    o.state.push_back(std::accumulate(acked.begin(), acked.end(), 0u, [flow](std::uint32_t sum, const WqesAcked& a) {
      return sum + (a.flow == flow ? a.wqes : 0);
    }));
    return o;
  }
  std::uint32_t flows_ = 0;
  Cycle expires_after_ = 0;
};

TEST_P(PairsTest, HappenOneAfterTheOther) {
  const auto [first, second, cycles] = GetParam();
  if ((is_command(first) && is_command(second)) || (first == Happening::kTimer && second == Happening::kTimer)) return;
  measure_timer();
  const Outcome in_order = outcome(first, second, kFar), reversed = outcome(second, first, kFar);
  clk.shuffle(3);
  for (Cycle apart = 0; apart <= 4; ++apart) {
    const Outcome close = outcome(first, second, apart);
    EXPECT_THAT(close, testing::AnyOf(in_order, reversed)) << apart;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, PairsTest,
    testing::Combine(testing::Values(Happening::kAck, Happening::kOwesAck, Happening::kMayWait, Happening::kShortFpdu,
                                     Happening::kLongFpdu, Happening::kFin, Happening::kAbort, Happening::kTimer),
                     testing::Values(Happening::kAck, Happening::kOwesAck, Happening::kMayWait, Happening::kShortFpdu,
                                     Happening::kLongFpdu, Happening::kFin, Happening::kAbort, Happening::kTimer),
                     testing::Values(1u, 2u, 8u)),
    [](const auto& param) {
      return std::string(kHappenings[static_cast<unsigned>(std::get<0>(param.param))]) +
             kHappenings[static_cast<unsigned>(std::get<1>(param.param))] + std::to_string(std::get<2>(param.param));
    });

// ---- What the firmware says of a flow

// Credit and acknowledgements name the queue pair that was written before the cycle of the use that has found them.
class FirmwareTest : public RowsTest {
 protected:
  At firmware{"firmware", clk};
};
TEST_F(FirmwareTest, CreditAndAcknowledgementsNameWhatItHasWritten) {
  static constexpr QpUse kEarlier{Qpn{3}, 8}, kLater{Qpn{70'000}, 9};
  std::uint32_t una = kIss + 1;
  for (Cycle written = 0; written < 2 * row_cycles() + 4; ++written) {
    SCOPED_TRACE(written);
    table.write(kOneFlow.v, &FlowTxRow::qp, kEarlier);
    fpdus.send(fpdu(64));
    run(100);
    credit.clear();
    acked.clear();
    const Cycle at = clk.next() + 20;
    feedback.send_at(at, ack(una += 64));
    firmware.at(at - 2 + written, [this] { table.write(kOneFlow.v, &FlowTxRow::qp, kLater); });
    run(100);
    const Cycle used = at + kToEnd + row_cycles();
    const QpUse& expected = at - 2 + written < used ? kLater : kEarlier;
    ASSERT_EQ(acked.size(), 1u);
    EXPECT_EQ(acked[0].qpn, expected.qpn);
    EXPECT_EQ(acked[0].epoch, expected.epoch);
    for (const TxCredit& c : credit) {
      EXPECT_EQ(c.qpn, expected.qpn);
      EXPECT_EQ(c.epoch, expected.epoch);
    }
  }
  table.write(kOneFlow.v, &FlowTxRow::qp, kLater);
  clk.reset(dut);
  credit.clear();
  establish(kOneFlow);
  EXPECT_FALSE(credit.empty());
  for (const TxCredit& c : credit) EXPECT_EQ(c.epoch, 0u) << "a reset forgets it";
}

// ---- Room at mac_tx

TEST_F(RowsTest, WithoutRoomForFramesWhatThePeerSaysIsExecuted) {
  const std::size_t link = config.tx_link().depth;
  for (std::size_t i = 0; i < link; ++i) fpdus.send(fpdu(64));
  const Cycle from = clk.next();
  frames.pause(window(from, from + 1000));
  run(100);
  // All of these wait for room: FPDUs, an ACK, queued segments of a retransmission, a command.
  for (int i = 0; i < 20; ++i) fpdus.send(fpdu(64));
  feedback.send(data(RxFeedback::Answer::kNow));
  for (int i = 0; i < 3; ++i) feedback.send(ack(kIss + 1));
  TxCommand refuse = command_of(TxCommand::Kind::kRefuse);
  refuse.key = kKey;
  commands.send(refuse);
  run(100);
  const std::size_t before = feedback.cycles().size();
  for (std::uint32_t i = 1; i <= link; ++i) feedback.send(ack(kIss + 1 + 64 * i));
  run(100);
  EXPECT_EQ(feedback.cycles().back() - feedback.cycles()[before], link - 1) << "one a cycle";
  EXPECT_EQ(acked.size(), link);
  EXPECT_EQ(dut.flow_state(kOneFlow).snd_una, kIss + 1 + 64 * link);
  EXPECT_TRUE(frames.empty());
  run();
  std::uint32_t next = kIss + 1;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (seen(i).payload() != 0 && seen(i).seq() == next) next += 64;
  }
  EXPECT_EQ(next, kIss + 1 + 64 * (20 + link)) << "in the end all FPDUs leave";
}

// A full report to the firmware holds up nobody else's credit.
TEST_F(RowsTest, AReportWithoutRoomHoldsUpNoCredit) {
  const Cycle from = clk.next();
  reports.pause(window(from, from + 3000));
  for (std::uint32_t f = 1; f <= 20; ++f) commands.send(open(FlowId{f}));
  run(200);
  for (std::uint32_t f = 1; f <= 20; ++f) feedback.send(ack(kIss + 1, FlowId{f}));
  run(100);
  fpdus.send(fpdu(1460));
  run(50);
  feedback.send(ack(kIss + 1 + 1460));
  run(100);
  EXPECT_EQ(credit.size(), 1u);
  EXPECT_EQ(acked.size(), 1u);
  reports.clear();
  run(4000);
  EXPECT_EQ(reports.size(), 20u) << "each SYN's";
}

// ---- Rates

class RatesTest : public RowsTest, public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {};

TEST_P(RatesTest, FpdusFollowEachOtherAsTheirBeatsDo) {
  const auto [beats, flows] = GetParam();
  for (std::uint32_t f = 1; f < flows; ++f) establish(FlowId{f});
  frames.clear();
  const unsigned fpdus_sent = beats > 2 ? 30 : 100;
  for (std::uint32_t i = 0; i < fpdus_sent; ++i) fpdus.send(fpdu(64 * beats - 60, FlowId{i % flows}));
  run();
  ASSERT_EQ(frames.size(), fpdus_sent);
  EXPECT_EQ(frames.cycles().back() - frames.cycles().front(), (fpdus_sent - 1) * beats);
}
INSTANTIATE_TEST_SUITE_P(BeatsAndFlows, RatesTest,
                         testing::Combine(testing::Values(1u, 2u, 23u), testing::Values(1u, 3u)));

class BothWaysTest : public RowsTest, public testing::WithParamInterface<unsigned> {};

// 64 octets in 3.3 cycles of 100 Gb/s, here 3: each message that comes may wait for its ACK, and acknowledges one of
// ours.
TEST_P(BothWaysTest, SmallMessagesKeepTheirRate) {
  const std::uint32_t flows = GetParam(), messages = 300;
  constexpr std::uint32_t kOctets = 108;
  for (std::uint32_t f = 1; f < flows; ++f) establish(FlowId{f});
  frames.clear();
  const Cycle from = clk.next() + 10;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const FlowId flow{i % flows};
    fpdus.send_at(from + 3 * i, fpdu(kOctets, flow));
    RxFeedback fb = data(RxFeedback::Answer::kSoon, flow);
    fb.rcv_nxt = kPeer + 100 * (i / flows + 1);
    fb.rcv_edge = fb.rcv_nxt + kWindow;
    if (i >= 20 * flows) fb.ack = kIss + 1 + kOctets * (i / flows - 19);
    feedback.send_at(from + 3 * i, fb);
  }
  run(3 * messages + 200);
  EXPECT_EQ(feedback.cycles().back(), from + 3 * (messages - 1)) << "none waits";
  std::vector<Cycle> late;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (seen(i).payload() == 0) continue;
    late.push_back(frames.cycles()[i] - config.tx_cycles - (from + 3 * late.size() + kToEnd));
  }
  ASSERT_EQ(late.size(), messages);
  EXPECT_LE(*std::max_element(late.begin(), late.end()), row_cycles() + 2);
  EXPECT_EQ(dut.counters().retransmissions, 0u);
}
INSTANTIATE_TEST_SUITE_P(Flows, BothWaysTest, testing::Values(1u, 2u, 7u));

// What one flow has queued leaves with a frame in each cycle, as soon as it has its turn.
TEST_F(RowsTest, QueuedSegmentsOfOneFlowFollowEachOther) {
  const FlowId flow{1};
  constexpr std::uint32_t kSegments = 20;
  BufferPool large(kSegments * kEmss);
  commands.send(open(flow));
  run(100);
  feedback.send(ack(kIss + 1, flow));
  run(100);
  frames.clear();
  TxCommand stream = command_of(TxCommand::Kind::kStream, flow);
  stream.data = large.take();
  stream.bytes = kSegments * kEmss;
  commands.send(stream);
  stream.data = {};
  run();
  ASSERT_EQ(frames.size(), kSegments);
  const std::vector<Cycle> cycles(frames.cycles().begin() + 1, frames.cycles().end());
  EXPECT_EQ(cycles, in_a_row(frames.cycles()[0] + row_cycles(), kSegments - 1));
}

// ---- Rows that come late

class SlowRows : public TcpTest, public testing::WithParamInterface<unsigned> {
 protected:
  SlowRows() : TcpTest(small(1), small(2), {}, {GetParam(), 1, 1}) {}
  using Frames = std::vector<std::tuple<std::uint64_t, unsigned, Bytes>>;
  static Frames frames_of(const Recorder& wire) {
    Frames frames;
    for (const Seen& s : wire.seen) frames.emplace_back(s.ps, s.direction, s.frame);
    std::sort(frames.begin(), frames.end());
    return frames;
  }
};

TEST_P(SlowRows, LoseNothing) {
  connect_rdma();
  Prng prng(7);
  cable.impair([&](unsigned, Frame&) { return clk.now() < 3000 || prng.below(20) != 0; });
  a.segmenter.send(kOneFlow, 200, 1460, 5000);
  b.segmenter.send(kOneFlow, 100, 516, 5000);
  run_until_idle(100'000'000);
  EXPECT_EQ(b.deframer.stream[0], counting_bytes(200 * 1460));
  EXPECT_EQ(a.deframer.stream[0], counting_bytes(100 * 516));
  EXPECT_EQ(a.segmenter.wqes[0], 200u);
  EXPECT_EQ(b.segmenter.wqes[0], 100u);
  expect_all_returned();
}

// In any order of calls, and with stages that run ahead.
TEST_P(SlowRows, AreAsSlowInAnyOrderOfCalls) {
  ClockDomain clk_a("other_a", {4000, 125}), clk_b("other_b", {4000, 125});  // as the cable's latency
  TcpNetwork other("other_", clk_a, clk_b, small(1), small(2), {}, {GetParam(), 1, 1});
  clk_a.shuffle(5);
  clk_b.shuffle(6);
  for (TcpNetwork* n : {&net, &other}) {
    n->connect_rdma();
    // By direction, as the two are independent.
    n->cable.impair([lost = std::array{Prng(8), Prng(9)}](unsigned direction, Frame&) mutable {
      return lost[direction].below(20) != 0;
    });
    n->a.segmenter.send(kOneFlow, 50, 1460, 5000);
    n->b.segmenter.send(kOneFlow, 100, 64, 5000);
  }
  run_until_idle(100'000'000);
  EXPECT_EQ(frames_of(wire), frames_of(other.wire));
}
INSTANTIATE_TEST_SUITE_P(Cycles, SlowRows, testing::Values(1u, 2u, 8u, 20u));

}  // namespace
}  // namespace rnic::test
