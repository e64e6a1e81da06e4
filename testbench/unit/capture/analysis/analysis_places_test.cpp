// Where a capture was made, what it lacks, and what follows for the figures.
#include <gmock/gmock.h>

#include "model/common/prng.h"
#include "testbench/unit/capture/analysis/analysis_bench.h"

namespace rnic::capture {
namespace {

using testing::HasSubstr;

TEST_F(AnalysisBench, TheShorterPartOfTheHandshakeIsThatOfTheNearSide) {
  connect(50, 1000);
  data(5000, 0);
  acks(5040, 1);
  analyze();
  EXPECT_EQ(found()["connections"][0]["tap"], "beside the responder");
  EXPECT_FALSE(figure("ack_delay")["with_path"].get<bool>());
  EXPECT_TRUE(figure("syn_ack_to_ack", 1)["with_path"].get<bool>());
}

TEST_F(AnalysisBench, AHandshakeOfEqualPartsTellsNoSide) {
  connect(500, 400);
  analyze();
  EXPECT_EQ(found()["connections"][0]["tap"], "between both sides");
  EXPECT_TRUE(figure("syn_to_syn_ack")["with_path"].get<bool>());
}

TEST_F(AnalysisBench, TheUserMayKnowBetter) {
  connect(50, 1000);
  data(5000, 0);
  analyze({false, TapOption::kSender, {}, {}});
  EXPECT_EQ(found()["connections"][0]["tap"], "beside the initiator");
}

// 500 ns of cable; at 100 Gb/s a segment of 1,054 octets takes 85 ns with preamble and FCS, the shortest frame 6.
TEST_F(AnalysisBench, ThePathIsSubtractedFromStampsOfArrivals) {
  connect(700, 600);
  data(5000, 0);
  acks(5800, 1);
  for (unsigned n = 2; n < 5; ++n) data(6000 + 100 * n, n);
  for (unsigned n = 2; n < 5; ++n) sacks(6700 + 100 * n, 1, 2, n + 1);
  data(8000, 1);
  analyze({false, TapOption::kEachEnd, {500, 100}, {}});
  EXPECT_EQ(only("syn_to_syn_ack"), 700 - 506);
  EXPECT_EQ(only("ack_delay"), 800 - 506);
  EXPECT_EQ(only("gap_to_duplicate_ack"), 6900 - 6200 - 506);
  EXPECT_EQ(only("third_news_to_retransmission"), 8000 - 7100 - 585);
  EXPECT_FALSE(figure("third_news_to_retransmission")["with_path"].get<bool>());
  EXPECT_TRUE(figure("loss_to_fast_retransmission")["with_path"].get<bool>());
}

TEST_F(AnalysisBench, SegmentsAboveTheMssAreOffload) {
  connect();
  Packet large;
  large.ns = 1000;
  large.seq = kClient;
  large.ack = kServer;
  large.payload_bytes = 3 * kMss;
  client(large);
  acks(1100, 3);
  analyze();
  EXPECT_EQ(direction()["above_mss"], 1);
  EXPECT_EQ(only("ack_delay"), 100);
  EXPECT_TRUE(figure("segments_per_ack").empty());
  EXPECT_EQ(direction()["left_out"][0]["figure"], "segments_per_ack");
  EXPECT_THAT(direction()["left_out"][0]["why"].get<std::string>(), HasSubstr("above the MSS of 1000"));
}

TEST_F(AnalysisBench, WhatIsAcknowledgedUnseenIsMissing) {
  connect();
  data(1000, 0);
  data(1200, 2);
  acks(1300, 3);
  data(1400, 3);
  acks(1450, 4);
  analyze();
  EXPECT_EQ(direction()["octets_missing"], kMss);
  EXPECT_EQ(only("ack_delay"), 50);
  EXPECT_EQ(resent("timeout"), 0u);
  EXPECT_TRUE(figure("out_of_order_depth").empty());
  EXPECT_THAT(direction()["notes"][0].get<std::string>(), HasSubstr("1000 octets were acknowledged but are not"));
}

TEST_F(AnalysisBench, AConnectionWithoutItsSynIsAnalysed) {
  data(1000, 7);
  acks(1040, 8);
  data(1100, 9);
  sacks(1150, 8, 9, 10);
  analyze();
  EXPECT_FALSE(found()["connections"][0]["has_syn"].get<bool>());
  EXPECT_EQ(found()["connections"][0]["tap"], "at an unknown place");
  EXPECT_EQ(only("ack_delay"), 40);
  EXPECT_EQ(only("gap_to_duplicate_ack"), 50);
}

TEST_F(AnalysisBench, ASynAfterThatIsAnotherConnection) {
  data(1000, 7);
  connect();
  analyze();
  EXPECT_EQ(found()["connections"].size(), 2u);
}

TEST_F(AnalysisBench, OneWayOfACaptureHasGapsOnly) {
  data(1000, 0, 1);
  data(1200, 2, 3);
  data(1900, 1, 4);
  analyze();
  EXPECT_EQ(only("out_of_order_depth"), 1);
  EXPECT_THAT(direction()["notes"][0].get<std::string>(), HasSubstr("the other direction"));
}

TEST_F(AnalysisBench, PausesAreMeasuredForTheStationThatAsks) {
  connect();
  const Bytes from = hex("0180C2000001 020000000009 8808");
  raw(1000, from + hex("0001 00FF") + Bytes(42));
  raw(2000, from + hex("0101 0002 0000 0100 0000 0000 0300 0000 0000 0000") + Bytes(26));
  data(2500, 0);
  raw(3000, from + hex("0001 0000") + Bytes(42));  // ends a pause
  analyze();
  const auto& pauses = found()["pauses"];
  ASSERT_EQ(pauses.size(), 1u);
  EXPECT_EQ(pauses[0]["station"], "02:00:00:00:00:09");
  EXPECT_EQ(pauses[0]["figures"][0]["count"], 2);
  EXPECT_EQ(pauses[0]["figures"][0]["min"], 0xff);
  EXPECT_EQ(pauses[0]["figures"][0]["max"], 0x100);  // of the priorities that it is for
  EXPECT_EQ(pauses[0]["figures"][1]["max"], 500);
}

TEST_F(AnalysisBench, FramesThatTheCableLostCountAsPacketsOnly) {
  connect();
  raw(900, hex("020000000001 020000000002 88B5") + Bytes(60));
  data(1000, 0);
  acks(1100, 1);
  analyze();
  EXPECT_EQ(found()["integrity"]["lost_by_cable"], 1);
  EXPECT_EQ(figure("ack_delay")["slowest_frame"], 6);
}

// Each field of each packet may have any value.
TEST_F(AnalysisBench, MutatedCapturesAreSurvived) {
  connect();
  for (unsigned n = 0; n < 20; ++n) data(1000 + 100 * n, n == 3 ? 30 : n, static_cast<std::uint16_t>(n));
  for (unsigned n = 4; n < 10; ++n) sacks(4000 + n, 3, 4, n + 1);
  data(5000, 3);
  acks(5100, 20);
  Prng prng(11);
  for (int round = 0; round < 300; ++round) analyze({}, &prng);
}

TEST_F(AnalysisBench, FarSequenceNumbersDoNotMatter) {
  connect();
  data(1000, 0);
  Packet strange = ack_of(1050, 1);
  strange.ack += 0x7000'0000;
  server(strange);
  acks(1100, 1);
  analyze();
  EXPECT_EQ(only("ack_delay"), 100);
  EXPECT_EQ(direction()["octets_missing"], 0);
}

}  // namespace
}  // namespace rnic::capture
