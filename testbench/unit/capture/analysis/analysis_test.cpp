#include "testbench/unit/capture/analysis/analysis_bench.h"

namespace rnic::capture {
namespace {

using wire::TcpHeader;

TEST_F(AnalysisBench, TheHandshakeIsOfBothSides) {
  connect(150, 70);
  analyze();
  EXPECT_EQ(only("syn_to_syn_ack"), 150);
  EXPECT_EQ(only("syn_ack_to_ack", 1), 70);
  EXPECT_EQ(figure("syn_to_syn_ack")["slowest_frame"], 2);
  EXPECT_EQ(figure("syn_ack_to_ack", 1)["slowest_frame"], 3);
}

TEST_F(AnalysisBench, AnAcknowledgementIsForTheNewestAndTheOldestSegment) {
  connect();
  data(1000, 0);
  data(1100, 1);
  acks(1130, 2);
  data(2000, 2);
  acks(2500, 3);
  analyze();
  EXPECT_EQ(figure("ack_delay")["min"], 30);
  EXPECT_EQ(figure("ack_delay")["max"], 500);
  EXPECT_EQ(figure("ack_delay")["slowest_frame"], 8);
  EXPECT_EQ(figure("ack_wait")["min"], 130);
  EXPECT_EQ(figure("segments_per_ack")["max"], 2);
  EXPECT_EQ(figure("segments_per_ack")["min"], 1);
}

TEST_F(AnalysisBench, FastRetransmissionFollowsTheThirdNews) {
  connect();
  data(1000, 0);
  acks(1050, 1);
  for (unsigned n = 2; n < 6; ++n) data(1000 + 100 * n, n);  // 1 is lost before the tap
  sacks(1240, 1, 2, 3);
  sacks(1340, 1, 2, 4);
  sacks(1440, 1, 2, 4);  // no news
  sacks(1450, 1, 2, 5);
  sacks(1540, 1, 2, 6);
  data(1900, 1);
  analyze();
  EXPECT_EQ(only("gap_to_duplicate_ack"), 40);
  EXPECT_EQ(only("third_news_to_retransmission"), 1900 - 1450);
  EXPECT_EQ(only("loss_to_fast_retransmission"), 1900 - 1200);
  EXPECT_EQ(only("out_of_order_depth"), 4);
  EXPECT_EQ(resent("fast"), 1u);
  EXPECT_EQ(needless("possibly"), 0u);
  EXPECT_EQ(figure("third_news_to_retransmission")["slowest_frame"], frames());
}

TEST_F(AnalysisBench, BeforeTheLossTheNewsTellOfIt) {
  connect();
  for (unsigned n = 0; n < 5; ++n) data(1000 + 100 * n, n);  // 1 is lost behind the tap
  acks(1300, 1);
  sacks(1500, 1, 2, 3);
  sacks(1600, 1, 2, 4);
  sacks(1700, 1, 2, 5);
  data(1750, 1);
  analyze();
  EXPECT_EQ(only("third_news_to_retransmission"), 50);
  EXPECT_EQ(only("loss_to_fast_retransmission"), 250);
  EXPECT_EQ(needless("sure"), 0u);
  EXPECT_EQ(needless("possibly"), 1u);
}

TEST_F(AnalysisBench, WithoutSackDuplicatesAreTheNews) {
  connect(100, 100, false);
  data(1000, 0);
  acks(1050, 1);
  for (unsigned n = 2; n < 5; ++n) data(1000 + 100 * n, n);
  for (std::uint64_t ns : {1240, 1340, 1440}) acks(ns, 1);
  data(1500, 1);
  analyze();
  EXPECT_EQ(only("gap_to_duplicate_ack"), 40);
  EXPECT_EQ(only("third_news_to_retransmission"), 60);
  EXPECT_EQ(resent("fast"), 1u);
}

TEST_F(AnalysisBench, ATimeoutRunsFromTheLastAcknowledgementAndDoubles) {
  connect();
  data(1000, 0);
  data(1100, 1);
  acks(1500, 1);
  data(201'500, 1);
  data(601'500, 1);
  acks(601'900, 2);
  analyze();
  EXPECT_EQ(resent("timeout"), 2u);
  EXPECT_EQ(figure("rto")["min"], 200'000);
  EXPECT_EQ(figure("rto")["max"], 400'000);
  EXPECT_EQ(only("rto_factor"), 200);
  EXPECT_EQ(figure("ack_delay")["count"], 1);  // nobody knows which one the last is for
}

TEST_F(AnalysisBench, WhatFollowsATimeoutIsRecovery) {
  connect();
  for (unsigned n = 0; n < 4; ++n) data(1000 + n, n);
  data(300'000, 0);
  acks(300'400, 1);
  data(300'500, 1);
  data(300'600, 2);
  analyze();
  EXPECT_EQ(resent("timeout"), 1u);
  EXPECT_EQ(resent("recovery"), 2u);
  EXPECT_EQ(only("rto"), 299'000);
}

TEST_F(AnalysisBench, AnOriginalThatComesLateIsNoRetransmission) {
  connect();
  data(1000, 0, 10);
  data(1200, 2, 12);
  data(1300, 3, 13);
  data(1400, 4, 14);
  data(1450, 5, 15);
  for (unsigned n = 2; n < 6; ++n) sacks(1500 + n, 1, 2, n + 1);
  data(1900, 1, 11);
  analyze();
  EXPECT_EQ(direction()["late"], 1);
  EXPECT_EQ(only("lateness"), 700);
  EXPECT_EQ(only("out_of_order_depth"), 4);
  EXPECT_EQ(resent("fast"), 0u);
  EXPECT_TRUE(figure("third_news_to_retransmission").empty());
}

TEST_F(AnalysisBench, ALateOriginalMakesTheRetransmissionNeedless) {
  connect();
  data(1000, 0, 10);
  for (std::uint16_t n = 2; n < 6; ++n) data(1000 + 100u * n, n, static_cast<std::uint16_t>(10 + n));
  for (unsigned n = 2; n < 6; ++n) sacks(1500 + n, 1, 2, n + 1);
  data(1900, 1, 16);
  data(2000, 1, 11);
  analyze();
  EXPECT_EQ(resent("fast"), 1u);
  EXPECT_EQ(direction()["late"], 1);
  EXPECT_EQ(needless("sure"), 1u);
}

TEST_F(AnalysisBench, ACopyOfAPacketIsNoRetransmission) {
  connect();
  data(1000, 0, 10);
  data(1001, 0, 10);
  acks(1100, 1);
  analyze();
  EXPECT_EQ(direction()["copies"], 1);
  EXPECT_EQ(resent("timeout"), 0u);
  EXPECT_EQ(only("ack_delay"), 100);
}

TEST_F(AnalysisBench, DSackProvesThatARetransmissionWasNeedless) {
  connect();
  data(1000, 0);
  data(1100, 1);
  acks(1200, 1);
  data(300'000, 1);
  acks(300'100, 2);
  sacks(300'200, 2, 1, 2);
  analyze({false, TapOption::kSender, {}, {}});
  EXPECT_EQ(needless("sure"), 1u);
  EXPECT_EQ(needless("possibly"), 0u);
}

TEST_F(AnalysisBench, WhatTheReceiversTapHasSeenIsNeedlessForSure) {
  connect();
  data(1000, 0);
  data(300'000, 0);
  acks(400'000, 1);
  analyze({false, TapOption::kReceiver, {}, {}});
  EXPECT_EQ(needless("sure"), 1u);
  analyze({false, TapOption::kMiddle, {}, {}});
  EXPECT_EQ(needless("possibly"), 1u);
}

TEST_F(AnalysisBench, AMarkIsEchoedAndTheSenderHalvesWhatIsInFlight) {
  connect();
  unsigned n = 0;
  for (; n < 7; ++n) data(1000 + 10 * n, n);
  Packet marked;
  marked.ns = 1100;
  marked.seq = kClient + 7 * kMss;
  marked.ack = kServer;
  marked.payload_bytes = kMss;
  marked.ce = true;
  client(marked);
  Packet echo = ack_of(1130, 7);
  echo.flags |= TcpHeader::kEce;
  echo.ack = kClient + 4 * kMss;
  server(echo);
  echo.ns = 1150;
  echo.ack = kClient + 8 * kMss;
  server(echo);
  for (n = 8; n < 12; ++n) {
    Packet next = marked;
    next.ns = 1200 + 10 * n;
    next.seq = static_cast<std::uint32_t>(kClient + n * kMss);
    next.ce = false;
    if (n == 8) next.flags |= TcpHeader::kCwr;
    client(next);
  }
  acks(1400, 12);
  data(2000, 12);
  analyze({false, TapOption::kSender, {}, {}});
  EXPECT_EQ(only("ce_to_ece"), 30);
  EXPECT_EQ(only("ece_to_cwr"), 1280 - 1130);
  EXPECT_EQ(only("reduction"), 50);  // of 8 segments, 4
  EXPECT_EQ(direction()["ce_marked"], 1);
}

TEST_F(AnalysisBench, AZeroWindowLastsUntilItsUpdate) {
  connect();
  data(1000, 0);
  Packet closed = ack_of(1100, 1);
  closed.window = 0;
  server(closed);
  closed.ns = 1500;
  server(closed);
  acks(2100, 1);
  analyze();
  EXPECT_EQ(only("zero_window_to_update"), 1000);
  EXPECT_EQ(direction()["zero_windows"], 1);
}

TEST_F(AnalysisBench, AKeepAliveIsNoRetransmission) {
  connect();
  data(1000, 0);
  acks(1100, 1);
  Packet probe;
  probe.ns = 500'000;
  probe.seq = kClient + kMss - 1;
  probe.ack = kServer;
  probe.payload_bytes = 1;
  client(probe);
  acks(500'100, 1);
  analyze();
  EXPECT_EQ(direction()["probes"], 1);
  EXPECT_EQ(resent("timeout"), 0u);
  EXPECT_EQ(needless("possibly"), 0u);
}

TEST_F(AnalysisBench, SequenceNumbersWrap) {
  Packet syn;
  syn.flags = kSyn;
  syn.seq = 0xfffffa00;
  client(syn);
  for (unsigned n = 0; n < 4; ++n) {
    Packet p;
    p.ns = 1000 + 100 * n;
    p.seq = 0xfffffa01 + n * 1000;
    p.payload_bytes = 1000;
    client(p);
    p.ns += 40;
    p.ack = p.seq + 1000;
    p.payload_bytes = 0;
    p.seq = 1;
    server(p);
  }
  analyze();
  EXPECT_EQ(figure("ack_delay")["count"], 4);
  EXPECT_EQ(figure("ack_delay")["max"], 40);
  EXPECT_EQ(resent("octets"), 0u);
}

}  // namespace
}  // namespace rnic::capture
