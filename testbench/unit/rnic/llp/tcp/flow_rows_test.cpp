// tcp_rx and the rows of its flows: frames and events of one flow and of several at every distance, slow rows, look-ups
// that go on, and a deframer that takes nothing.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testbench/support/contexts.h"
#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using Kind = tcp::RxCommand::Kind;
using ReportKind = tcp::RxReport::Kind;

constexpr std::uint32_t kFirst = 1000;  // of the peer's octets, and of ours
constexpr FlowId kOne{0}, kOther{1};

TcpConfig rows_config(unsigned read_cycles = TableConfig{}.read_cycles) {
  TcpConfig c;
  c.max_flows = 64;
  c.flow_rx_table.read_cycles = read_cycles;
  return c;
}

// tcp_rx with a clock of its own; all that happens is said before the run. Flow n is the peer's port 4000 + n unless
// another one is given.
class Bench {
 public:
  explicit Bench(const TcpConfig& c = rows_config(), const CacheConfig& cache = {})
      : config(c),
        clk(sc_core::sc_gen_unique_name("clk"), {}),
        sent(clk, c.max_flows),
        rows("flow_rx_table", clk, c.max_flows, c.flow_rx_table, cache),
        dut(sc_core::sc_gen_unique_name("dut"), clk, c, {}, rows, {kMacB, {kIpB}, {}}, pool, sent) {
    for (std::uint32_t i = 0; i < c.max_flows; ++i) sent.set(FlowId{i}, kFirst);
  }
  ~Bench() {
    for (const auto* beats : {&out, &behind}) {
      for (const StreamBeat& b : *beats) {
        if (b.last) BufferRef::adopt(b.buf);
      }
    }
  }
  static std::uint16_t port_of(FlowId flow) { return static_cast<std::uint16_t>(4000 + flow.v); }
  void open(FlowId flow, Cycle at = 0, std::uint16_t port = 0) {
    tcp::RxCommand c;
    c.kind = Kind::kOpen;
    c.flow = flow;
    c.key = {kIpA, port == 0 ? port_of(flow) : port, 5000};
    c.rcv_nxt = kFirst;
    c.agreed.emss = 1460;
    c.agreed.scaling = true;
    c.established = true;
    c.snd_una = kFirst;
    c.peer_window = 60'000;
    commands.send_at(at, c);
  }
  void command(Kind kind, FlowId flow, Cycle at, std::uint32_t bytes = 0) {
    tcp::RxCommand c;
    c.kind = kind;
    c.flow = flow;
    c.bytes = bytes;
    commands.send_at(at, c);
  }
  void open_rdma(FlowId flow, std::uint16_t port = 0) {
    open(flow, 0, port);
    command(Kind::kEnterRdma, flow, 0);
  }
  void segment(std::uint32_t from, std::size_t octets, Cycle at, std::uint16_t port = 4000, const char* flags = "A") {
    PeerSegment s{flags, kFirst + from, kFirst, counting_bytes(octets, from)};
    s.peer_port = port;
    const Bytes bytes = s.frame();
    Frame f;
    f.buf = frames.take();
    f.bytes = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), f.buf->bytes());
    in.send_at(at, std::move(f));
  }
  // When a frame sent then is used, if nothing holds it up.
  Cycle use_of(Cycle sent_at) const { return sent_at + kToEnd + config.hash_cycles + config.flow_rx_table.read_cycles; }
  // What a flow has become, and what its neighbours have heard of it, but for the cycles.
  std::string state(FlowId flow) const {
    const tcp::FlowRx& f = rows.peek(flow.v)->state;
    std::string s = "open " + std::to_string(f.receiver.is_open()) + " next " + std::to_string(f.receiver.rcv_nxt()) +
                    " window " + std::to_string(f.receiver.is_open() ? f.receiver.receive_window() : 0) + " rdma " +
                    std::to_string(f.stream.rdma()) + " kept " + std::to_string(!f.stream.empty());
    for (const StreamBeat& b : out) {
      s += b.ends ? " end" : b.placed ? " placed" : " octets";
      s += std::to_string(b.offset) + "+" + std::to_string(b.bytes);
    }
    for (const tcp::RxReport& r : reports) {
      s += " report" + std::to_string(static_cast<int>(r.kind)) + "/" + std::to_string(r.bytes);
    }
    return s + " fpdus " + std::to_string(dut.counters().early_fpdus) + " frames " + std::to_string(frames.in_use());
  }

  const TcpConfig config;
  ClockDomain clk;
  BufferPool frames{2048}, pool{2048};
  tcp::SentOctets sent;
  tcp::FlowRxTable rows;
  TcpRx dut;
  Source<Frame> in = drive(dut.in);
  Source<tcp::RxCommand> commands = drive(dut.commands);
  Source<RxConsumed> consumed = drive(dut.consumed);
  Source<StreamEnded> ended = drive(dut.ended);
  Source<EarlyPlaced> early = drive(dut.early);
  Sink<StreamBeat> out = collect(dut.out, config.rx_link());
  Sink<StreamBeat> behind = collect(dut.behind);
  Sink<tcp::RxFeedback> feedback = collect(dut.feedback);
  Sink<tcp::RxReport> reports = collect(dut.reports);
};

class FlowRowsTest : public StageTest {
 protected:
  Bench& bench(const TcpConfig& c = rows_config()) {
    benches_.push_back(std::make_unique<Bench>(c));
    return *benches_.back();
  }
  const std::vector<std::unique_ptr<Bench>>& benches() const { return benches_; }

 private:
  std::vector<std::unique_ptr<Bench>> benches_;
};

// ---- Frames

class Distances : public FlowRowsTest, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(ReadCycles, Distances, testing::Values(1u, 2u, 3u, 8u));

// The second frame of the same flow, or of another one, begins as early as the first one allows.
TEST_P(Distances, TwoFramesLeaveInOrderWithoutAGap) {
  struct Run {
    Bench* b;
    Cycle distance;
  };
  std::vector<Run> runs;
  for (const FlowId second : {kOne, kOther}) {
    for (Cycle distance = 0; distance <= 4; ++distance) {
      Bench& b = bench(rows_config(GetParam()));
      b.open_rdma(kOne);
      b.open_rdma(kOther);
      b.segment(0, 64, 200);
      b.segment(second == kOne ? 64 : 0, 64, 200 + distance, Bench::port_of(second));
      runs.push_back({&b, distance});
    }
  }
  run_until_idle();
  for (const auto& [b, distance] : runs) {
    const Cycle first = b->use_of(200), second = std::max(b->use_of(b->in.cycles()[1]), first + 2);
    EXPECT_THAT(b->out.cycles(), ElementsAre(first + 1 + b->config.rx_cycles, second + 1 + b->config.rx_cycles))
        << distance;
    EXPECT_THAT(b->feedback.cycles(), ElementsAre(first + kToEnd, second + kToEnd)) << distance;
  }
}

// While a frame's beats leave, the next ones are looked up and their rows read.
TEST_P(Distances, FramesKeepTheirRate) {
  for (const std::size_t octets : {64u, 1460u}) {
    Bench& b = bench(rows_config(GetParam()));
    b.open_rdma(kOne);
    b.open_rdma(kOther);
    for (std::uint32_t i = 0; i < 30; ++i) {
      b.segment(static_cast<std::uint32_t>(i / 2 * octets), octets, 200, i % 2 == 0 ? 4000 : 4001);
    }
  }
  run_until_idle();
  for (const auto& b : benches()) {
    std::vector<Cycle> firsts;
    for (std::size_t i = 0; i < b->out.size(); ++i) {
      if (b->out[i].first) firsts.push_back(b->out.cycles()[i]);
    }
    ASSERT_EQ(firsts.size(), 30u);
    const Cycle a_frame = 1 + b->out.size() / 30;
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(firsts[i], firsts[0] + i * a_frame);
  }
}

// One port is enough for a frame of a beat and for what was consumed of the one before, in every two cycles.
TEST_F(FlowRowsTest, WhatWasConsumedHoldsUpNoFrame) {
  Bench& b = bench();
  b.open_rdma(kOne);
  for (std::uint32_t i = 0; i < 100; ++i) b.segment(64 * i, 64, 200);
  for (Cycle i = 0; i < 100; ++i) b.consumed.send_at(200 + 2 * i, RxConsumed{kOne, 64});
  run_until_idle();
  ASSERT_EQ(b.out.size(), 100u);
  EXPECT_LE(b.out.cycles().back(), b.out.cycles().front() + 2 * 99 + 2);  // the first conflict alone
}

// ---- Look-ups

// Five addresses of one bucket: that of the fifth flow is in the next one.
std::vector<std::uint16_t> ports_of_one_bucket(std::size_t flows) {
  const llp::FlowTable hash(flows);
  std::vector<std::uint16_t> ports;
  for (std::uint16_t port = 4000; ports.size() < llp::FlowTable::kWays + 1; ++port) {
    if (hash.home({kIpA, port, 5000}) == hash.home({kIpA, 4000, 5000})) ports.push_back(port);
  }
  return ports;
}
TEST_F(FlowRowsTest, ALookUpGoesOnBehindAFullBucket) {
  Bench& b = bench();
  const std::vector<std::uint16_t> ports = ports_of_one_bucket(b.config.max_flows);
  for (std::uint32_t i = 0; i < ports.size(); ++i) b.open_rdma(FlowId{i}, ports[i]);
  b.segment(0, 64, 200, ports.front());
  b.segment(0, 64, 300, ports.back());
  b.segment(64, 64, 301, ports.front());  // is looked up behind it
  run_until_idle();
  const Cycle last = b.use_of(300) + b.config.hash_cycles;
  EXPECT_THAT(b.feedback.cycles(), ElementsAre(b.use_of(200) + kToEnd, last + kToEnd, last + 2 + kToEnd));
  EXPECT_EQ(b.dut.counters().more_buckets, 1u);
  EXPECT_EQ(b.out[1].flow, FlowId{llp::FlowTable::kWays});
}
// The fifth flow comes back to the first bucket while it is looked for: in each cycle of that.
TEST_F(FlowRowsTest, ALookUpFindsAFlowThatMovesMeanwhile) {
  for (Cycle release = 290; release < 312; ++release) {
    Bench& b = bench();
    const std::vector<std::uint16_t> ports = ports_of_one_bucket(b.config.max_flows);
    for (std::uint32_t i = 0; i < ports.size(); ++i) b.open_rdma(FlowId{i}, ports[i]);
    b.command(Kind::kRelease, FlowId{1}, release);
    b.segment(0, 64, 300, ports.back());
  }
  run_until_idle();
  for (const auto& b : benches()) {
    ASSERT_EQ(b->feedback.size(), 1u);
    EXPECT_EQ(b->feedback[0].flow, FlowId{4});
    ASSERT_EQ(b->reports.size(), 1u) << "a frame of no flow would be answered by a RST";
    EXPECT_EQ(b->reports[0].kind, ReportKind::kReleased);
  }
}

TEST_F(FlowRowsTest, AFrameOfNoFlowIsReportedInItsPlaceAndNeedsNoRow) {
  Bench& b = bench(rows_config(8));
  b.open_rdma(kOne);
  b.segment(0, 64, 200);
  b.segment(0, 64, 201, 9999);
  b.segment(64, 64, 202);
  run_until_idle();
  ASSERT_EQ(b.reports.size(), 1u);
  EXPECT_EQ(b.reports[0].flow, kNoFlow);
  EXPECT_EQ(b.reports.cycles()[0], b.use_of(200) + 2 + kToEnd);
  EXPECT_EQ(b.rows.counters().accesses, 2u + 2u);  // commands, frames
}

// ---- Events beside a frame

// What happens to a flow: before all, then around a frame, and the frame.
struct Case {
  const char* name;
  void (*before)(Bench&);
  void (*frame)(Bench&, Cycle at);
  void (*event)(Bench&, Cycle at);
};
EarlyPlaced placed(Bench& b, std::uint64_t offset, std::uint32_t bytes) {
  EarlyPlaced e{kOne, offset, bytes, b.pool.take(), true};
  std::fill_n(e.header->bytes(), kPlacedHeaderBytes, std::uint8_t{1});
  return e;
}
void in_order(Bench& b, Cycle at) { b.segment(0, 100, at); }
void opened(Bench& b) { b.open(kOne); }
const Case kCases[] = {
    {"read", opened, in_order, [](Bench& b, Cycle at) { b.command(Kind::kRead, kOne, at, 60); }},
    {"unread",
     [](Bench& b) {
       b.open(kOne);
       b.command(Kind::kRead, kOne, 100, 60);
     },
     in_order, [](Bench& b, Cycle at) { b.command(Kind::kUnread, kOne, at); }},
    {"enter_rdma", opened, in_order, [](Bench& b, Cycle at) { b.command(Kind::kEnterRdma, kOne, at); }},
    {"discard", opened, in_order, [](Bench& b, Cycle at) { b.command(Kind::kDiscard, kOne, at); }},
    {"release", [](Bench& b) { b.open_rdma(kOne); }, in_order,
     [](Bench& b, Cycle at) { b.command(Kind::kRelease, kOne, at); }},
    {"consumed",
     [](Bench& b) {
       b.open_rdma(kOne);
       b.segment(0, 1460, 100);
       b.segment(1460, 1460, 100);
     },
     [](Bench& b, Cycle at) { b.segment(2920, 100, at); },
     [](Bench& b, Cycle at) {
       b.consumed.send_at(at, RxConsumed{kOne, 2920});
     }},
    {"ended",
     [](Bench& b) {
       b.open_rdma(kOne);
       b.segment(0, 64, 100, 4000, "AF");
     },
     [](Bench& b, Cycle at) { b.segment(0, 64, at, 4000, "AF"); },
     [](Bench& b, Cycle at) { b.ended.send_at(at, StreamEnded{kOne}); }},
    {"early_answer",
     [](Bench& b) {
       b.open_rdma(kOne);
       b.segment(256, 256, 100);
     },
     [](Bench& b, Cycle at) { b.segment(0, 256, at); },
     [](Bench& b, Cycle at) { b.early.send_at(at, placed(b, 256, 256)); }},
};

class EventsBesideAFrame : public FlowRowsTest, public testing::WithParamInterface<Case> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EventsBesideAFrame, testing::ValuesIn(kCases),
                         [](const auto& kind) { return std::string(kind.param.name); });

// In each cycle around the frame it is as if one of them came long after the other, whatever a row takes.
TEST_P(EventsBesideAFrame, AreAsInOneOrderOrTheOther) {
  const Case& c = GetParam();
  const auto run = [&](unsigned read_cycles, Cycle frame, Cycle event) {
    Bench& b = bench(rows_config(read_cycles));
    c.before(b);
    c.frame(b, frame);
    c.event(b, event);
    return &b;
  };
  const Bench* const frame_first = run(2, 1000, 2000);
  const Bench* const event_first = run(2, 2000, 1000);
  std::vector<std::pair<Cycle, const Bench*>> beside;
  for (const unsigned read_cycles : {1u, 2u, 8u}) {
    for (Cycle at = 985; at < 1020; ++at) beside.emplace_back(at, run(read_cycles, 1000, at));
  }
  run_until_idle();
  for (const auto& [at, b] : beside) {
    EXPECT_THAT(b->state(kOne), AnyOf(frame_first->state(kOne), event_first->state(kOne))) << at;
  }
}

// ---- A deframer that takes nothing

class StalledDeframer : public FlowRowsTest {
 protected:
  static constexpr Cycle kUntil = 5000;
  // Frames of the first flow wait from cycle 200 on, with their rows.
  Bench& stalled() {
    Bench& b = bench();
    b.out.pause(window(0, kUntil));
    b.open_rdma(kOne);
    b.open(kOther);
    b.segment(0, 100, 150, Bench::port_of(kOther));
    for (std::uint32_t i = 0; i < 4; ++i) b.segment(1460 * i, 1460, 200);
    return b;
  }
};

TEST_F(StalledDeframer, HoldsUpNoCommandAndNoReport) {
  Bench& b = stalled();
  b.command(Kind::kRead, kOther, 1000, 60);
  b.command(Kind::kRelease, kOther, 1100);
  run_until_idle();
  ASSERT_EQ(b.reports.size(), 2u);
  EXPECT_EQ(b.reports[0].kind, ReportKind::kStream);
  EXPECT_EQ(b.reports[1].kind, ReportKind::kReleased);
  const Cycle row = b.config.flow_rx_table.read_cycles;
  EXPECT_THAT(b.reports.cycles(), ElementsAre(1000 + 2 * kToEnd + row, 1100 + 2 * kToEnd + row));
  EXPECT_EQ(b.out.size(), 4u * 23);
}

TEST_F(StalledDeframer, HoldsUpNoWindow) {
  Bench& b = stalled();
  const std::uint32_t step = 2 * b.config.mss();
  b.consumed.send_at(1000, RxConsumed{kOne, step});
  run_until_idle();
  const auto update = std::find(b.feedback.cycles().begin(), b.feedback.cycles().end(),
                                1000 + 2 * kToEnd + b.config.flow_rx_table.read_cycles);
  ASSERT_NE(update, b.feedback.cycles().end());
  EXPECT_EQ(b.feedback[static_cast<std::size_t>(update - b.feedback.cycles().begin())].rcv_edge,
            kFirst + b.config.window_bytes + step);
}

// A flow that is reset while the octets before it cannot leave. The others are as before.
TEST_F(StalledDeframer, AnEndBehindItsOctetsHoldsUpNoEventOfAnotherFlow) {
  Bench& b = stalled();
  b.segment(4 * 1460, 0, 300, 4000, "AF");
  b.command(Kind::kRead, kOther, 1000, 60);
  run_until_idle();
  ASSERT_EQ(b.reports.size(), 1u);
  EXPECT_LT(b.reports.cycles()[0], kUntil);
  EXPECT_TRUE(b.out[b.out.size() - 1].ends);
}

// A frame that waits with its row belongs to the use of the number in which it was looked up.
TEST_F(StalledDeframer, AFrameOfAReleasedFlowDoesNotMeetTheNextOneOfItsNumber) {
  Bench& b = stalled();
  b.segment(100, 50, 300, Bench::port_of(kOther));
  b.command(Kind::kRelease, kOther, 1000);
  b.open(kOther, 1100, 7777);
  b.command(Kind::kEnterRdma, kOther, 1101);
  b.segment(0, 64, kUntil + 1000, 7777);
  run_until_idle();
  ASSERT_EQ(b.reports.size(), 2u);
  EXPECT_EQ(b.reports[0].kind, ReportKind::kReleased);
  EXPECT_EQ(b.reports[1].kind, ReportKind::kSegment);
  EXPECT_EQ(b.reports[1].flow, kNoFlow);
  EXPECT_EQ(b.reports[1].seq, kFirst + 100);
  EXPECT_EQ(b.out.back().flow, kOther);
  EXPECT_EQ(b.out.back().offset, 0u);
}

// ---- What the firmware says of a flow

// A beat says what was written before the cycle in which its octets leave, the FIN's as well, and all of a segment the
// same.
TEST_P(Distances, BeatsSayWhatTheFirmwareHasWritten) {
  static constexpr FlowFacts kEarlier{Qpn{3}, 8, false, true}, kLater{Qpn{70'000}, 9, true, false};
  struct Run {
    Bench* b;
    Cycle written;
  };
  std::vector<Run> runs;
  std::vector<std::unique_ptr<At>> firmware;
  for (Cycle written = 190; written < 240; ++written) {
    Bench& b = bench(rows_config(GetParam()));
    b.open_rdma(kOne);
    b.rows.write(kOne.v, &tcp::FlowRxRow::facts, kEarlier);
    b.segment(0, 128, 200);
    b.segment(128, 64, 200, Bench::port_of(kOne), "AF");
    firmware.push_back(std::make_unique<At>(sc_core::sc_gen_unique_name("firmware"), b.clk));
    firmware.back()->at(written, [&b] { b.rows.write(kOne.v, &tcp::FlowRxRow::facts, kLater); });
    runs.push_back({&b, written});
  }
  run_until_idle();
  for (const auto& [b, written] : runs) {
    ASSERT_EQ(b->out.size(), 4u);
    EXPECT_TRUE(b->out[3].ends);
    Cycle used = 0;  // the row, for the segment: its first beat leaves a cycle later
    for (std::size_t i = 0; i < b->out.size(); ++i) {
      const StreamBeat& beat = b->out[i];
      if (beat.first) used = b->out.cycles()[i] - b->config.rx_link().latency - 1;
      const FlowFacts& expected = written < used ? kLater : kEarlier;
      EXPECT_EQ(beat.qpn, expected.qpn) << written << ", beat " << i;
      EXPECT_EQ(beat.life, expected.life);
      EXPECT_EQ(beat.markers, expected.markers);
      EXPECT_EQ(beat.crc, expected.crc);
    }
  }
}

// ---- Neighbours that take nothing for a while

// Reports and windows for which there is no room wait in their lists, and their rows with nobody.
TEST_F(FlowRowsTest, WithoutRoomForReportsAndWindowsBothComeLater) {
  Bench& b = bench();
  b.reports.pause(window(0, 3000));
  b.feedback.pause(window(0, 3000));
  for (std::uint32_t i = 0; i < 32; ++i) b.open_rdma(FlowId{i});
  for (std::uint32_t i = 0; i < 32; ++i) b.consumed.send_at(300, RxConsumed{FlowId{i}, 2u * b.config.mss()});
  for (std::uint32_t i = 0; i < 32; i += 2) b.command(Kind::kRelease, FlowId{i}, 1000);
  run_until_idle();
  EXPECT_EQ(b.reports.size(), 16u);
  EXPECT_GE(b.feedback.size(), 16u);
  EXPECT_LE(b.feedback.size(), 32u);
  EXPECT_LT(b.rows.counters().accesses, 300u);
}

// ---- Order of calls

class ShuffledRows : public FlowRowsTest, public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledRows, testing::Values(1, 2, 3, 4));

void random_traffic(Bench& b, std::uint64_t seed) {
  Prng prng(seed);
  const auto below = [&prng](std::uint64_t n) { return static_cast<std::uint32_t>(prng.below(n)); };
  for (std::uint32_t i = 0; i < 4; ++i) b.open_rdma(FlowId{i});
  std::uint32_t next[4] = {};
  for (Cycle at = 100; at < 2000; at += below(8)) {
    const FlowId flow{below(4)};
    const std::uint32_t octets = 1 + below(300), gap = below(4) == 0 ? below(200) : 0;
    b.segment(next[flow.v] + gap, octets, at, Bench::port_of(flow));
    if (gap == 0) next[flow.v] += octets;
    b.consumed.send_at(at + below(3), RxConsumed{FlowId{below(4)}, below(3000)});
  }
  for (std::uint32_t i = 0; i < 4; ++i) b.segment(next[i], 500, 2100, Bench::port_of(FlowId{i}), "AF");
}

// And so does a stage that is called in each cycle of its beats.
TEST_P(ShuffledRows, GiveTheSameInTheSameCycles) {
  TcpConfig c = rows_config();
  c.early_placement = false;
  Bench &plain = bench(c), &shuffled = bench(c), &stepped = bench(c);
  shuffled.clk.shuffle(GetParam());
  stepped.clk.set_run_ahead(false);
  for (Bench* b : {&plain, &shuffled, &stepped}) random_traffic(*b, GetParam());
  run_until_idle();
  for (const Bench* b : {&shuffled, &stepped}) {
    EXPECT_EQ(plain.out.cycles(), b->out.cycles());
    EXPECT_EQ(plain.feedback.cycles(), b->feedback.cycles());
    EXPECT_EQ(plain.reports.cycles(), b->reports.cycles());
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(plain.state(FlowId{i}), b->state(FlowId{i}));
  }
}

// ---- Flows that are not all on the chip

// Answers each miss after a fixed time, with what the row was when it left.
class SlowHome final : public Stage {
 public:
  static constexpr Cycle kFetch = 100, kMissed = 1;  // to the row; from the end of a read's grant to the home
  SlowHome(ClockDomain& clk, tcp::FlowRxTable& rows)
      : Stage(sc_core::sc_module_name(sc_core::sc_gen_unique_name("home")), clk), rows_(rows) {
    rows.cache().connect_home(misses);
  }
  PopPort<TableMiss> misses{*this, "misses"};

  Wake tick() override {
    if (misses->can_pop()) {
      const TableMiss miss = misses->pop();
      if (miss.dirty != 0) home_[miss.leaving] = rows_.leaving(miss);
      due_.emplace_back(now() + kFetch, miss);
    }
    for (; !due_.empty() && due_.front().first <= now(); due_.pop_front()) {
      rows_.fill(due_.front().second, home_[due_.front().second.index]);
      rows_.cache().arrived(due_.front().second, true);
    }
    return due_.empty() ? Wake::on_traffic() : Wake::at_cycle(due_.front().first);
  }

 private:
  tcp::FlowRxTable& rows_;
  std::map<std::uint32_t, tcp::FlowRxRow> home_;
  std::deque<std::pair<Cycle, TableMiss>> due_;
};

class FewFlows : public StageTest {
 protected:
  static constexpr std::uint32_t kFlows = 12;  // more than there are places, with the spare ones
  static constexpr FlowId kAway{0}, kHere{kFlows - 1};
  FewFlows() {
    for (std::uint32_t n = 0; n < kFlows; ++n) b.open(FlowId{n}, 300 * n);
    for (std::uint32_t n = 1; n < kFlows; ++n) b.command(Kind::kEnterRdma, FlowId{n}, 6000 + 300 * n);
  }
  const CacheConfig cache{4, 4, CachePolicy::kLru, 4, 1};
  Bench b{rows_config(), cache};
  SlowHome home{b.clk, b.rows};
  static constexpr Cycle kNow = 20'000;
  Cycle hit(Cycle sent_at) const { return b.use_of(sent_at) + cache.tag_cycles; }
  Cycle missed(Cycle sent_at) const { return hit(sent_at) + SlowHome::kMissed + SlowHome::kFetch; }
};

TEST_F(FewFlows, AFrameWhoseFlowIsFetchedIsPassedByThoseOfOthers) {
  b.command(Kind::kEnterRdma, kAway, 5000);
  for (std::uint32_t n = kFlows - cache.entries; n < kFlows; ++n) b.command(Kind::kUnread, FlowId{n}, 10'000 + 300 * n);
  b.segment(0, 64, kNow, Bench::port_of(kAway));
  b.segment(64, 64, kNow + 1, Bench::port_of(kAway));
  b.segment(0, 64, kNow + 2, Bench::port_of(kHere));
  run_until_idle();
  const Cycle of_away = missed(kNow), of_here = hit(b.in.cycles()[2]);
  ASSERT_EQ(b.out.size(), 3u);
  EXPECT_EQ(b.out[0].flow, kHere);
  EXPECT_EQ(b.out[1].flow, kAway);
  EXPECT_EQ(b.out[1].offset, 0u);
  EXPECT_EQ(b.out[2].offset, 64u);
  EXPECT_THAT(b.feedback.cycles(), ElementsAre(of_here + kToEnd, of_away + kToEnd, of_away + 2 + kToEnd));
}

// Both wait for the same row. In another order the octets would be kept for the firmware first.
TEST_F(FewFlows, AFrameComesAfterTheCommandsAboutItsFlow) {
  b.segment(0, 64, kNow, Bench::port_of(kAway));
  b.command(Kind::kEnterRdma, kAway, kNow);
  run_until_idle();
  ASSERT_EQ(b.out.size(), 1u);
  EXPECT_THAT(b.out.cycles(), ElementsAre(b.feedback.cycles()[0] - kToEnd + 1 + b.config.rx_cycles));
}

}  // namespace
}  // namespace rnic::test
