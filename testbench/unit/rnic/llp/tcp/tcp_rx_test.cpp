// tcp_rx alone: the cycles of a segment's headers, beats and reports, and what a stalled neighbour holds up.
#include "testbench/support/sizes.h"
#include "testbench/unit/rnic/llp/tcp/tcp_stages.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;

TEST_F(TcpRxTest, BeatsFollowTheCycleOfTheHeadersOnePerCycle) {
  send(segment(0, 1460));
  run_until_idle();
  const Cycle headers = in.cycles().back() + kToEnd + kToFlowRow;
  EXPECT_EQ(out.cycles(), in_a_row(headers + 1 + config().rx_cycles, 23));
  EXPECT_EQ(feedback.cycles().back(), headers + kToEnd);
  EXPECT_EQ(stream(), counting_bytes(1460));
  EXPECT_EQ(feedback.back().rcv_nxt, kPeer + 1460);
  EXPECT_EQ(feedback.back().answer, RxFeedback::Answer::kSoon);
}

// A frame takes a cycle for its headers and one per beat: the next one's headers follow.
TEST_F(TcpRxTest, FramesFollowEachOtherWithoutAGap) {
  const std::vector<std::size_t> sizes = {1, 64, 65, 1460, 128};
  std::uint32_t at = 0;
  for (const std::size_t n : sizes) {
    send(segment(at, n));
    at += static_cast<std::uint32_t>(n);
  }
  run_until_idle();
  Cycle headers = in.cycles().front() + kToEnd + kToFlowRow;
  std::vector<Cycle> expected;
  for (const std::size_t n : sizes) {
    const std::size_t beats = (n + 63) / 64;
    for (std::size_t i = 0; i < beats; ++i) expected.push_back(headers + 1 + config().rx_cycles + i);
    headers += 1 + beats;
  }
  EXPECT_EQ(out.cycles(), expected);
  EXPECT_EQ(stream(), counting_bytes(at));
}

// Of a segment that is not acceptable the headers' cycle is all that it takes.
TEST_F(TcpRxTest, WhatIsDroppedTakesOneCycle) {
  PeerSegment duplicate = segment(0, 0);
  duplicate.seq = kPeer - 100;
  duplicate.payload = counting_bytes(100);
  for (int i = 0; i < 5; ++i) send(duplicate);
  send(segment(0, 64));
  run_until_idle();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.cycles()[0], in.cycles().front() + kToEnd + kToFlowRow + 5 + 1 + config().rx_cycles);
  EXPECT_EQ(dut.counters().duplicates, 5u);
}

// The segment that fills the gap releases all that was kept, before any later frame. Each takes the cycle that a frame
// takes for its headers.
TEST_F(TcpRxTest, OctetsThatWereKeptLeaveRightAfterTheGapIsFilled) {
  send(segment(64, 64));
  send(segment(128, 64));
  send(segment(0, 64));
  send(segment(192, 64));
  run_until_idle();
  EXPECT_EQ(stream(), counting_bytes(256));
  ASSERT_EQ(out.size(), 4u);
  const Cycle filled = in.cycles()[2] + kToEnd + kToFlowRow;
  EXPECT_EQ(out.cycles()[0], filled + 1 + config().rx_cycles);
  EXPECT_EQ(out.cycles()[1], out.cycles()[0] + 2);
  EXPECT_EQ(out.cycles()[2], out.cycles()[0] + 4);
  EXPECT_EQ(dut.counters().out_of_order, 2u);
}

TEST_F(TcpRxTest, TheFinsBeatLeavesTwoCyclesAfterTheLastOctets) {
  send(segment(0, 64, "AF"));
  run_until_idle();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[1].ends);
  EXPECT_EQ(out.cycles()[1], out.cycles()[0] + 2);
  EXPECT_TRUE(reports.empty());  // not before it has passed
  ended.send({kOneFlow});
  run_until_idle();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, RxReport::Kind::kFin);
  EXPECT_EQ(reports.cycles()[0], ended.cycles()[0] + 2 * kToEnd + kFlowRow);
}

TEST_F(TcpRxTest, AFrameWaitsForRoomForItsFeedbackOrItsReport) {
  const Cycle from = clk.next();
  feedback.pause(window(from, from + 1000));
  for (std::uint32_t i = 0; i < 20; ++i) send(segment(64 * i, 64));
  run_until_idle();
  EXPECT_EQ(stream(), counting_bytes(20 * 64));
  const auto before = std::count_if(out.cycles().begin(), out.cycles().end(), [&](Cycle c) { return c < from + 1000; });
  EXPECT_EQ(before, Netlist::kFew.depth);
}

TEST_F(TcpRxTest, AResetReturnsWhatWasKept) {
  send(segment(64, 64));
  send(segment(500, 64));
  run_until_idle();
  ASSERT_EQ(frames.in_use(), 2u);
  clk.reset(dut);
  EXPECT_EQ(frames.in_use(), 0u);
  send(segment(0, 64));  // of no flow
  reports.clear();
  run_until_idle();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, RxReport::Kind::kSegment);
}

class TcpRxSizes : public TcpRxTest, public testing::WithParamInterface<std::tuple<unsigned, Traffic>> {
 protected:
  TcpRxSizes() : TcpRxTest(std::get<0>(GetParam())) {}
};
TEST_P(TcpRxSizes, EverySegmentLeavesWholeAndInOrder) {
  const auto& [beat_bytes, traffic] = GetParam();
  in.pause(traffic.produce);
  out.pause(traffic.consume);
  std::uint32_t at = 0;
  std::size_t beats = 0;
  for (const std::size_t n : sizes(beat_bytes, kEmss)) {
    if (n == 0 || at + n > 60'000) continue;
    send(segment(at, n));
    at += static_cast<std::uint32_t>(n);
    beats += (n + beat_bytes - 1) / beat_bytes;
  }
  run_until_idle();
  EXPECT_EQ(stream(), counting_bytes(at));
  EXPECT_EQ(out.size(), beats);
}
INSTANTIATE_TEST_SUITE_P(Datapath, TcpRxSizes, testing::Combine(testing::Values(16u, 64u, 128u), kTraffics),
                         width_and_traffic);

}  // namespace
}  // namespace rnic::test
