// tcp_rx and early_placement: what is offered, what remains of it, and when it goes on.
#include "model/rnic/llp/tcp/tcp_rx.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/rnic/llp/tcp/scripted_peer.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = tcp::RxCommand::Kind;

constexpr FlowId kFlow{1};
constexpr std::uint32_t kSegment = 256;

class EarlyTest : public StageTest {
 protected:
  static TcpConfig config(unsigned reorder_bytes = 4096, bool early_placement = true) {
    TcpConfig c;
    c.max_flows = 4;
    c.reorder_bytes = reorder_bytes;
    c.early_placement = early_placement;
    return c;
  }
  explicit EarlyTest(const TcpConfig& c = config())
      : sent(clk, c.max_flows),
        flow_rx_table("flow_rx_table", clk, c.max_flows, c.flow_rx_table),
        tcp_rx("tcp_rx", clk, c, {}, flow_rx_table, {kMacB, {kIpB}, {}}, pool, sent) {
    tcp::RxCommand open = command(Kind::kOpen);
    open.key = {kIpA, 4000, 5000};
    open.rcv_nxt = 1;
    open.established = true;
    sent.set(kFlow, 1);
    commands.send(open);
  }
  static tcp::RxCommand command(Kind kind) {
    tcp::RxCommand c;
    c.kind = kind;
    c.flow = kFlow;
    return c;
  }
  void enter_rdma() { commands.send(command(Kind::kEnterRdma)); }
  // Segment n of the stream; it reaches tcp_rx a cycle later.
  void receive(unsigned n, Cycle at, unsigned segments = 1) { receive_octets(kSegment * n, kSegment * segments, at); }
  void receive_octets(std::uint32_t offset, std::uint32_t bytes, Cycle at, const char* flags = "PA") {
    PeerSegment s{flags, 1 + offset, 1};
    s.payload = counting_bytes(bytes, offset);
    const Bytes octets = s.frame();
    Frame f;
    f.buf = pool.take();
    f.bytes = static_cast<std::uint32_t>(octets.size());
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    firmware.at(at, [this, f] { frames.send(f); });
  }
  // early_placement's answer; it reaches tcp_rx in this cycle.
  void answer(Cycle at, std::uint64_t offset, std::uint32_t bytes, bool last) {
    EarlyPlaced e{kFlow, offset, bytes, {}, last};
    if (bytes != 0) {
      e.header = headers.take();
      std::fill_n(e.header->bytes(), kPlacedHeaderBytes, static_cast<std::uint8_t>(0xe0 + offset / kSegment));
    }
    firmware.at(at - 2, [this, e] { answers.send(e); });
  }
  // Segments 1 to n - 1, after the hole of segment 0.
  void receive_behind(unsigned n) {
    for (unsigned i = 1; i < n; ++i) receive(i, 10 * i);
  }
  struct Came {
    std::uint64_t offset;
    std::uint32_t bytes;
    bool placed;
    bool operator==(const Came& o) const { return offset == o.offset && bytes == o.bytes && placed == o.placed; }
  };
  // What the deframer got, segment by segment. Its octets must be the stream's, or the header's.
  std::vector<Came> came() const {
    std::vector<Came> all;
    std::uint64_t next = 0;
    for (const StreamBeat& b : stream) {
      EXPECT_EQ(b.offset, next);
      next += b.placed ? kSegment : b.bytes;
      const Bytes octets(b.data, b.data + b.bytes);
      EXPECT_EQ(octets, b.placed ? Bytes(16, static_cast<std::uint8_t>(0xe0 + b.offset / kSegment))
                                 : counting_bytes(b.bytes, b.offset));
      if (b.first) all.push_back({b.offset, 0, b.placed});
      all.back().bytes += b.bytes;
      if (b.last) BufferRef::adopt(b.buf);
    }
    return all;
  }
  std::vector<Came> offers() const {
    std::vector<Came> all;
    for (const StreamBeat& b : offered) {
      if (b.first) all.push_back({b.offset, 0, b.placed});
      all.back().bytes += b.bytes;
      EXPECT_EQ(Bytes(b.data, b.data + b.bytes), counting_bytes(b.bytes, b.offset));
      if (b.last) BufferRef::adopt(b.buf);
    }
    return all;
  }

  BufferPool pool{2048}, headers{64};
  At firmware{"firmware", clk};
  tcp::SentOctets sent;
  tcp::FlowRxTable flow_rx_table;
  TcpRx tcp_rx;
  Source<Frame> frames = drive(tcp_rx.in);
  Source<tcp::RxCommand> commands = drive(tcp_rx.commands);
  Sink<tcp::RxFeedback> feedback = collect(tcp_rx.feedback);
  Sink<tcp::RxReport> reports = collect(tcp_rx.reports);
  Sink<StreamBeat> stream = collect(tcp_rx.out, config().rx_link());
  Sink<StreamBeat> offered = collect(tcp_rx.behind);
  Source<EarlyPlaced> answers = drive(tcp_rx.early);
  Source<RxConsumed> consumed = drive(tcp_rx.consumed);
  Source<StreamEnded> ends = drive(tcp_rx.ended);
};

// The frame is at tcp_rx in cycle 12; its beats leave in the four cycles after that of its row.
TEST_F(EarlyTest, WhatIsKeptBehindAHoleIsOffered) {
  enter_rdma();
  receive(2, 10);
  run_until_idle();
  EXPECT_THAT(offered.cycles(), ElementsAre(kToFlowRow + 14, kToFlowRow + 15, kToFlowRow + 16, kToFlowRow + 17));
  EXPECT_THAT(offers(), ElementsAre(Came{512, 256, false}));
  EXPECT_THAT(stream, IsEmpty());
}

TEST_F(EarlyTest, OctetsThatAreKeptAlreadyAreNotOfferedAgain) {
  enter_rdma();
  receive(2, 10);
  receive(2, 30);
  receive(1, 50, 3);  // covers it on both sides
  receive(5, 70);
  run_until_idle();
  EXPECT_THAT(offers(), ElementsAre(Came{512, 256, false}, Came{1280, 256, false}));
}

TEST_F(EarlyTest, InStreamingModeNothingIsOffered) {
  receive(2, 10);
  run_until_idle();
  EXPECT_THAT(offered, IsEmpty());
  EXPECT_EQ(tcp_rx.counters().out_of_order, 1u);
}

class WithoutEarlyPlacement : public EarlyTest {
 protected:
  WithoutEarlyPlacement() : EarlyTest(config(4096, false)) {}
};
TEST_F(WithoutEarlyPlacement, NothingIsOffered) {
  enter_rdma();
  receive(1, 10);
  receive(0, 30);
  run_until_idle();
  EXPECT_THAT(offered, IsEmpty());
  EXPECT_THAT(came(), ElementsAre(Came{0, 256, false}, Came{256, 256, false}));
}

TEST_F(EarlyTest, ASegmentIsNotOfferedWhileTheOneBeforeItLeaves) {
  enter_rdma();
  receive(1, 10);
  receive(2, 11);
  receive(4, 15);  // at tcp_rx in cycle 17; the last beat before it left in 16
  run_until_idle();
  EXPECT_THAT(offers(), ElementsAre(Came{256, 256, false}, Came{1024, 256, false}));
  EXPECT_EQ(tcp_rx.counters().not_offered, 1u);
}

// TCP hears of the FIN when the beat that stands for it has passed all stages.
TEST_F(EarlyTest, AFinLeavesBehindTheLastOctetAndIsReportedWhenItHasPassed) {
  enter_rdma();
  receive_octets(0, kSegment, 10, "FPA");
  ends.send_at(100, StreamEnded{kFlow});
  run_until_idle();
  ASSERT_EQ(stream.size(), 5u);
  const StreamBeat& end = stream.back();
  EXPECT_TRUE(end.ends && end.first && end.last);
  EXPECT_EQ(end.offset, kSegment);
  EXPECT_EQ(end.bytes, kEndBytes);
  EXPECT_EQ(stream.cycles().back(), stream.cycles()[3] + 2);  // looked at after they have left
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, tcp::RxReport::Kind::kFin);
  EXPECT_TRUE(reports[0].told_in_band);
  EXPECT_THAT(reports.cycles(), ElementsAre(102 + kFlowRow));
  for (const StreamBeat& b : stream) {
    if (b.last) BufferRef::adopt(b.buf);
  }
}
// As for the FIN; tcp_tx hears of it at once.
TEST_F(EarlyTest, AResetLeavesBehindTheLastOctetAndIsReportedWhenItHasPassed) {
  enter_rdma();
  receive_octets(0, kSegment, 10, "PA");
  receive_octets(kSegment, 0, 11, "R");
  ends.send_at(100, StreamEnded{kFlow});
  run_until_idle();
  ASSERT_EQ(stream.size(), 5u);
  const StreamBeat& end = stream.back();
  EXPECT_TRUE(end.ends);
  EXPECT_EQ(load_be16(end.data), static_cast<std::uint16_t>(StreamEnd::kReset));
  EXPECT_EQ(stream.cycles().back(), stream.cycles()[3] + 2 + kFlowRow);  // the RST has its own frame, and then its turn
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, tcp::RxReport::Kind::kReset);
  EXPECT_THAT(reports.cycles(), ElementsAre(102 + kFlowRow));
  ASSERT_EQ(feedback.size(), 2u);
  EXPECT_TRUE(!feedback[0].reset && feedback[1].reset);
  EXPECT_LT(feedback.cycles()[1], stream.cycles().back());
  for (const StreamBeat& b : stream) {
    if (b.last) BufferRef::adopt(b.buf);
  }
}
TEST_F(EarlyTest, AFinWaitsForWhatEarlyPlacementHolds) {
  enter_rdma();
  receive(1, 10);
  receive_octets(2 * kSegment, 0, 15, "FA");
  receive(0, 30);
  answer(60, kSegment, kSegment, true);
  ends.send_at(200, StreamEnded{kFlow});
  run_until_idle();
  ASSERT_FALSE(stream.empty());
  EXPECT_TRUE(stream.back().ends);
  EXPECT_EQ(stream.back().offset, 2 * kSegment);
  EXPECT_GT(stream.cycles().back(), 60u);
  for (const StreamBeat& b : stream) {
    if (b.last) BufferRef::adopt(b.buf);
  }
  offers();
}
// No other connection gets its number before.
TEST_F(EarlyTest, AFlowIsReleasedWhenItsFinHasPassed) {
  enter_rdma();
  receive_octets(0, kSegment, 10, "FPA");
  firmware.at(40, [this] { commands.send(command(Kind::kRelease)); });
  ends.send_at(100, StreamEnded{kFlow});
  run_until_idle();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, tcp::RxReport::Kind::kReleased);
  EXPECT_THAT(reports.cycles(), ElementsAre(102 + kFlowRow));
  for (const StreamBeat& b : stream) {
    if (b.last) BufferRef::adopt(b.buf);
  }
}
TEST_F(EarlyTest, InStreamingModeAFinIsReportedAtOnce) {
  receive_octets(0, 0, 10, "FA");
  run_until_idle();
  EXPECT_THAT(stream, IsEmpty());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].told_in_band);
}

TEST_F(EarlyTest, OnlyTheHeaderOfWhatIsPlacedStays) {
  enter_rdma();
  receive_behind(4);
  for (unsigned n : {1u, 2u, 3u}) answer(100 + n, 256 * n, n == 2 ? 0 : 256, true);
  receive(0, 200);
  run_until_idle();
  EXPECT_THAT(came(),
              ElementsAre(Came{0, 256, false}, Came{256, 16, true}, Came{512, 256, false}, Came{768, 16, true}));
  EXPECT_EQ(tcp_rx.counters().early_fpdus, 2u);
  EXPECT_EQ(tcp_rx.counters().early_saved, 2u * 240);
  EXPECT_EQ(tcp_rx.counters().reorder_bytes_max, 3u * 256);
  EXPECT_EQ(tcp_rx.counters().payload_bytes, 4u * 256);
  offers();
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(headers.in_use(), 0u);
}

// One of several FPDUs in a segment: at its beginning, in its middle, at its end.
TEST_F(EarlyTest, WhatIsPlacedOfASegmentIsCutOutOfIt) {
  enter_rdma();
  receive(1, 10, 5);
  answer(100, 256, 256, false);
  answer(101, 768, 256, false);
  answer(102, 1280, 256, true);
  receive(0, 200);
  run_until_idle();
  EXPECT_THAT(came(), ElementsAre(Came{0, 256, false}, Came{256, 16, true}, Came{512, 256, false}, Came{768, 16, true},
                                  Came{1024, 256, false}, Came{1280, 16, true}));
  EXPECT_THAT(feedback.back().rcv_nxt, 1u + 6 * 256);
}

class SmallReorderMemory : public EarlyTest, public testing::WithParamInterface<bool> {
 protected:
  SmallReorderMemory() : EarlyTest(config(2 * kSegment, GetParam())) {}
};
INSTANTIATE_TEST_SUITE_P(EarlyPlacement, SmallReorderMemory, testing::Bool());
TEST_P(SmallReorderMemory, PlacingMakesRoomForMore) {
  enter_rdma();
  for (unsigned n = 1; n < 10; ++n) {
    receive(n, 20 * n);
    if (GetParam()) answer(20 * n + 12, 256 * n, 256, true);
  }
  run_until_idle();
  EXPECT_EQ(tcp_rx.counters().reorder_drops, GetParam() ? 0u : 7u);
  EXPECT_EQ(tcp_rx.counters().reorder_bytes_max, GetParam() ? 256u + 8 * 16 : 512u);
}

class FewSegments : public EarlyTest {
 protected:
  static TcpConfig four_segments() {
    TcpConfig c = config();
    c.reorder_segments = 4;
    return c;
  }
  FewSegments() : EarlyTest(four_segments()) {}
};

// Each would hold a frame's block for one octet.
TEST_F(FewSegments, TheirBlocksAreAllThatIsHeld) {
  for (unsigned n = 1; n <= 10; ++n) receive_octets(kSegment * n, 1, 20 * n);
  run_until_idle();
  EXPECT_EQ(pool.in_use(), 4u);
  EXPECT_EQ(tcp_rx.counters().reorder_drops, 6u);
  EXPECT_EQ(tcp_rx.counters().reorder_segments_max, 4u);
  EXPECT_EQ(tcp_rx.counters().reorder_bytes_max, 4u);
}

// One of five FPDUs is cut out of a segment. The rest of the list is for segments: two more fit.
TEST_F(FewSegments, HalfOfTheListIsNotForPartsOfSegments) {
  enter_rdma();
  receive(1, 10, 5);
  for (unsigned n = 1; n <= 5; ++n) answer(100 + n, 256 * n, 256, n == 5);
  for (unsigned n : {6u, 8u, 10u}) receive(n, 200 + 20 * n);
  for (unsigned n : {6u, 8u}) answer(500 + n, 256 * n, 256, true);  // whole segments: nothing to cut
  receive(0, 600);
  run_until_idle();
  EXPECT_EQ(tcp_rx.counters().early_fpdus, 3u);
  EXPECT_EQ(tcp_rx.counters().reorder_drops, 1u);
  EXPECT_EQ(tcp_rx.counters().reorder_segments_max, 4u);
  EXPECT_THAT(came(),
              ElementsAre(Came{0, 256, false}, Came{256, 16, true}, Came{512, 1024, false}, Came{1536, 16, true}));
  EXPECT_EQ(feedback.back().rcv_nxt, 1u + 7 * 256);
}

// Memory may still be written for these octets, so they must not be delivered before.
TEST_F(EarlyTest, OctetsThatAreOfferedWaitForTheAnswer) {
  enter_rdma();
  receive(1, 10);
  receive(0, 30);
  receive(2, 40);  // in order by then, and after the octets that wait
  answer(100, 256, 256, true);
  run_until_idle();
  EXPECT_EQ(feedback.back().rcv_nxt, 1u + 3 * 256) << "the peer need not wait";
  EXPECT_THAT(came(), ElementsAre(Came{0, 256, false}, Came{256, 16, true}, Came{512, 256, false}))
      << "nor may it be written again behind its delivery";
  const Cycle first = config().rx_cycles + 100 + 2 * kFlowRow;  // that of the answer, and of the turn
  EXPECT_EQ(stream.cycles()[4], first + 1);
  EXPECT_EQ(tcp_rx.counters().early_fpdus, 1u);
  EXPECT_EQ(tcp_rx.counters().early_saved, 0u) << "nothing is behind a hole any more";
}

// A segment that fills the hole and overlaps placed octets ends before them.
TEST_F(EarlyTest, WhatOverlapsWhatIsPlacedIsKnownAlready) {
  enter_rdma();
  receive(1, 10);
  answer(60, 256, 256, true);
  receive(0, 100, 3);
  run_until_idle();
  EXPECT_THAT(came(), ElementsAre(Came{0, 256, false}, Came{256, 16, true}, Came{512, 256, false}));
}

TEST_F(EarlyTest, AFlowEndsWhenEverythingIsAnswered) {
  enter_rdma();
  receive(1, 10);
  firmware.at(30, [&] { commands.send(command(Kind::kRelease)); });
  answer(100, 256, 256, false);
  answer(120, 256, 0, true);
  run_until_idle();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, tcp::RxReport::Kind::kReleased);
  EXPECT_THAT(reports.cycles(), ElementsAre(121 + kFlowRow));
  EXPECT_EQ(tcp_rx.counters().early_fpdus, 0u);
  offers();
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_EQ(headers.in_use(), 0u);
}

}  // namespace
}  // namespace rnic::test
