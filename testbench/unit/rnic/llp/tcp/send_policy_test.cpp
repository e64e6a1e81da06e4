// What limits a flow's sending, without a network: windows, the retransmission timer, the path's MTU, frames.
#include <gmock/gmock.h>

#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/congestion_window.h"
#include "model/rnic/llp/tcp/dctcp.h"
#include "model/rnic/llp/tcp/newreno.h"
#include "model/rnic/llp/tcp/path_mtu.h"
#include "model/rnic/llp/tcp/retransmission_timer.h"
#include "model/rnic/llp/tcp/segment_writer.h"
#include "model/rnic/llp/tcp/send_window.h"

namespace rnic::tcp {
namespace {

constexpr std::uint32_t kMss = 1000;

// ---- CongestionWindow

class CongestionWindowTest : public testing::Test {
 protected:
  CongestionWindowTest() { window.open(algorithm, kMss, 10, 0, true); }
  llp::AckedOctets ack(bool ece = false) {
    llp::AckedOctets octets;
    octets.bytes = kMss;
    octets.flight = 10 * kMss;
    octets.ece = ece;
    return octets;
  }

  const NewReno algorithm;
  CongestionWindow window;
};

TEST_F(CongestionWindowTest, GrowsOnlyWhereItMayAndWithoutAnEcho) {
  window.on_ack(algorithm, ack(), false);
  window.on_ack(algorithm, ack(true), true);
  EXPECT_EQ(window.octets(), 10 * kMss);
  window.on_ack(algorithm, ack(), true);
  EXPECT_EQ(window.octets(), 11 * kMss);
}

TEST_F(CongestionWindowTest, AnEchoReducesItOnceAWindowOfData) {
  EXPECT_FALSE(window.on_echo(algorithm, 0, 10 * kMss));  // echo of data sent before the connection was open
  EXPECT_TRUE(window.on_echo(algorithm, kMss, 10 * kMss));
  EXPECT_EQ(window.octets(), 4500u);  // half of the flight
  EXPECT_FALSE(window.on_echo(algorithm, 10 * kMss, 14 * kMss));
  EXPECT_TRUE(window.on_echo(algorithm, 10 * kMss + 1, 14 * kMss));
}

TEST_F(CongestionWindowTest, ALossIsTheReductionForEchoesOfTheSameData) {
  window.on_loss(algorithm, 10 * kMss, 0, 10 * kMss);
  EXPECT_FALSE(window.on_echo(algorithm, 10 * kMss, 12 * kMss));
  EXPECT_EQ(window.octets(), 5 * kMss);
}

// RFC 3168 section 6.1.2. DCTCP reduces by less, so there the loss counts as well.
TEST_F(CongestionWindowTest, AnEchoIsTheReductionForALossOfTheSameData) {
  window.on_echo(algorithm, kMss, 11 * kMss);
  EXPECT_EQ(window.octets(), 5 * kMss);
  window.on_loss(algorithm, 6 * kMss, 10 * kMss, 16 * kMss);
  EXPECT_EQ(window.octets(), 5 * kMss);
  EXPECT_EQ(window.ssthresh(), 5 * kMss);
  window.on_loss(algorithm, 6 * kMss, 11 * kMss, 17 * kMss);  // a loss of later data
  EXPECT_EQ(window.octets(), 3 * kMss);
  const Dctcp dctcp;
  window.open(dctcp, kMss, 10, 0, true);
  window.on_echo(dctcp, kMss, 11 * kMss);
  window.on_loss(dctcp, 6 * kMss, 10 * kMss, 16 * kMss);
  EXPECT_EQ(window.octets(), 3 * kMss);
}

// Sequence numbers have gone round half of their circle since the last reduction.
TEST_F(CongestionWindowTest, ALossAndAnEchoCountHoweverLongAgoTheLastWas) {
  constexpr std::uint32_t kFar = 0x8000'0000u + 1000;
  for (const std::uint32_t acked : {0x4000'0000u, kFar}) window.follow(acked);
  const std::uint32_t before = window.octets();
  window.on_loss(algorithm, before, kFar, kFar + before);
  EXPECT_EQ(window.ssthresh(), before / 2);
  for (const std::uint32_t acked : {0xc000'0000u, 2000u}) window.follow(acked);
  EXPECT_TRUE(window.on_echo(algorithm, 2000, 2000 + before));
}

TEST_F(CongestionWindowTest, ThePeerIsToldOnceOfAReduction) {
  EXPECT_FALSE(window.take_cwr());
  window.on_loss(algorithm, 10 * kMss, 0, 10 * kMss);
  EXPECT_TRUE(window.take_cwr());
  EXPECT_FALSE(window.take_cwr());
  window.open(algorithm, kMss, 10, 0, false);
  window.on_loss(algorithm, 10 * kMss, 0, 10 * kMss);
  EXPECT_FALSE(window.take_cwr());  // this peer did not agree to ECN
}

TEST_F(CongestionWindowTest, SilenceTakesItBackToTheInitialOne) {
  EXPECT_FALSE(window.on_idle(algorithm, 10));
  window.on_ack(algorithm, ack(), true);
  EXPECT_TRUE(window.on_idle(algorithm, 10));
  EXPECT_EQ(window.octets(), 10 * kMss);
}

TEST_F(CongestionWindowTest, AfterATimeoutItIsOneSegment) {
  window.set_mss(500);
  EXPECT_EQ(window.octets(), 10 * kMss);
  window.on_timeout(algorithm, 10 * kMss, 10 * kMss, false);
  EXPECT_EQ(window.octets(), 500u);
}

// ---- SendWindow

TEST(SendWindow, TheEdgeIsWhatThePeerLastSaid) {
  SendWindow window;
  window.open(10, 1000, 5000);
  EXPECT_EQ(window.edge(), 6000u);
  EXPECT_TRUE(window.update(11, 2000, 5000));
  EXPECT_EQ(window.edge(), 7000u);
  EXPECT_FALSE(window.update(11, 2000, 100));  // it shrinks
  EXPECT_EQ(window.edge(), 2100u);
  EXPECT_EQ(window.advertised(), 100u);
  EXPECT_TRUE(window.holds(2000, 100));
  EXPECT_FALSE(window.holds(2000, 101));
  EXPECT_FALSE(window.holds(6000, 1));  // much more was sent
  EXPECT_TRUE(window.update(11, 2000, 100));
}

// RFC 9293 section 3.10.7.4: SND.WL1 < SEG.SEQ, or SND.WL1 = SEG.SEQ and SND.WL2 =< SEG.ACK.
TEST(SendWindow, WhatIsOlderDoesNotTakeItBack) {
  SendWindow window;
  window.open(0xfffffff0, 1000, 5000);
  window.update(20, 2000, 4000);
  EXPECT_FALSE(window.update(19, 2000, 9000));  // an older segment, overtaken on the way
  EXPECT_EQ(window.edge(), 6000u);
  window.update(20, 1999, 9000);
  EXPECT_EQ(window.edge(), 6000u);
  EXPECT_TRUE(window.update(19, 2000, 4000));
  window.update(19, 2100, 4000);  // a retransmission with a later ACK
  EXPECT_EQ(window.edge(), 6100u);
  window.update(30, 2100, 10);
  EXPECT_EQ(window.edge(), 2110u);
}

TEST(SendWindow, CreditIsWhatBothWindowsHoldAndNobodyWasGiven) {
  SendWindow window;
  window.open(0, 0xffffff00, 0x1000);
  window.start_credit(0xffffff00);
  EXPECT_EQ(window.credit(0xffffff00 + 0x800), 0x800u);
  EXPECT_EQ(window.credit(0x8000), 0x1000u);
  window.grant(0x1000);
  EXPECT_EQ(window.credit(0x8000), 0u);
  EXPECT_EQ(window.credit(0xffffff80), 0u);  // the congestion window fell below the granted credit
  window.update(1, 0xffffff10, 0x1000);
  EXPECT_EQ(window.credit(0x8000), 0x10u);
}

TEST(SendWindow, HalfOfTheLargestIsWorthASegment) {
  SendWindow window;
  window.open(0, 1000, 500);
  window.update(1, 1000, 4000);
  window.update(1, 1000, 1999);
  EXPECT_EQ(window.usable(1000), 1999u);
  EXPECT_EQ(window.usable(2999), 0u);
  EXPECT_EQ(window.usable(3000), 0u);  // the window shrank
  EXPECT_TRUE(window.worth_sending(2000));
  EXPECT_FALSE(window.worth_sending(1999));
  window.open(0, 1000, 0);
  EXPECT_FALSE(window.worth_sending(0));
}

// ---- PathMtu

TEST(PathMtu, OnlyAReportOfASmallerOneAboutWhatIsInFlightCounts) {
  PathMtu path;
  path.open(1460);
  EXPECT_FALSE(path.on_report(1400, false, 576, false));
  EXPECT_FALSE(path.on_report(1500, true, 576, false));
  EXPECT_EQ(path.mss(), 1460u);
  EXPECT_TRUE(path.on_report(1400, true, 576, false));
  EXPECT_EQ(path.mss(), 1360u);
  EXPECT_EQ(path.emss(), 1460u);
  EXPECT_FALSE(path.on_report(1400, true, 576, false));  // known already
  EXPECT_TRUE(path.on_report(100, true, 576, false));    // not below the floor
  EXPECT_EQ(path.mss(), 536u);
}

TEST(PathMtu, TimestampsTakeTheirShare) {
  PathMtu path;
  path.open(1448);
  EXPECT_TRUE(path.on_report(1400, true, 576, true));
  EXPECT_EQ(path.mss(), 1348u);
}

// ---- RetransmissionTimer

class RetransmissionTimerTest : public testing::Test {
 protected:
  static TcpConfig config() {
    TcpConfig c;
    c.rto_initial_us = 100;
    c.rto_min_us = 1;
    c.max_retries = 2;
    c.syn_retries = 1;
    c.keepalive_us = 7;
    return c;
  }
  using Awaits = RetransmissionTimer::Awaits;

  RetransmissionTimerSettings settings{config(), 1'000'000};  // a cycle is a microsecond
  RetransmissionTimer timer;
};

TEST_F(RetransmissionTimerTest, ItsLengthIsThatOfWhatIsAwaited) {
  EXPECT_EQ(timer.length(settings, Awaits::kAck), 100u);
  EXPECT_EQ(timer.length(settings, Awaits::kWindow), 100u);
  EXPECT_EQ(timer.length(settings, Awaits::kSign), 7u);
  EXPECT_EQ(timer.length(settings, Awaits::kNothing), kNever);
  settings.keepalive = 0;
  EXPECT_EQ(timer.length(settings, Awaits::kSign), kNever);
}

TEST_F(RetransmissionTimerTest, DoublesUntilAnAckAndGivesUp) {
  EXPECT_FALSE(timer.backed_off());
  EXPECT_TRUE(timer.on_expiry(settings, true));
  EXPECT_TRUE(timer.backed_off());
  EXPECT_EQ(timer.length(settings, Awaits::kAck), 200u);
  EXPECT_TRUE(timer.on_expiry(settings, true));
  EXPECT_EQ(timer.length(settings, Awaits::kAck), 400u);
  EXPECT_FALSE(timer.on_expiry(settings, true));
  timer.on_new_ack();
  EXPECT_EQ(timer.length(settings, Awaits::kAck), 100u);
  EXPECT_TRUE(timer.on_expiry(settings, false));
  EXPECT_FALSE(timer.on_expiry(settings, false));  // a SYN has fewer retries
}

TEST_F(RetransmissionTimerTest, AnsweredProbesGoOnForeverAtGrowingIntervals) {
  for (unsigned i = 1; i <= 5; ++i) {
    EXPECT_TRUE(timer.on_expiry(settings, true));
    timer.on_answer(true);
    EXPECT_EQ(timer.length(settings, Awaits::kWindow), Cycle{100} << i);
  }
  timer.on_answer(false);
  EXPECT_EQ(timer.length(settings, Awaits::kWindow), 100u);
  EXPECT_TRUE(timer.on_expiry(settings, true));
  EXPECT_TRUE(timer.on_expiry(settings, true));
  timer.on_closed_window();
  EXPECT_TRUE(timer.on_expiry(settings, true));
}

TEST_F(RetransmissionTimerTest, OneSegmentIsTimedAtATime) {
  timer.on_sent(1000, 10);
  timer.on_sent(2000, 20);
  timer.measure(settings, 999, {}, 30);
  EXPECT_EQ(timer.srtt(), 0u);
  timer.measure(settings, 2000, {}, 50);
  EXPECT_EQ(timer.srtt(), 40u);
  timer.measure(settings, 3000, {}, 500);  // no segment is timed
  EXPECT_EQ(timer.srtt(), 40u);
}

TEST_F(RetransmissionTimerTest, WhatWasSentTwiceIsNotTimed) {
  timer.on_sent(1000, 10);
  timer.on_sent_again(false, 20);
  timer.measure(settings, 1000, {}, 30);
  EXPECT_EQ(timer.srtt(), 0u);
  timer.on_sent(2000, 40);
  timer.on_expiry(settings, true);
  timer.measure(settings, 2000, {}, 60);
  EXPECT_EQ(timer.srtt(), 0u);
  timer.on_sent(3000, 70);
  timer.forget();
  timer.measure(settings, 3000, {}, 80);
  EXPECT_EQ(timer.srtt(), 0u);
}

TEST_F(RetransmissionTimerTest, AnEchoedTimestampTellsWhichOneIsAnswered) {
  timer.on_sent(1000, 10);
  timer.on_sent_again(true, 50);
  timer.measure(settings, 1000, 50, 62);
  EXPECT_EQ(timer.srtt(), 12u);
}

TEST_F(RetransmissionTimerTest, IdleIsWhoSentNothingForAnRto) {
  timer.on_sent(1000, 10);
  EXPECT_FALSE(timer.idle(settings, 110));
  EXPECT_TRUE(timer.idle(settings, 111));
  timer.on_sent_again(false, 60);
  EXPECT_FALSE(timer.idle(settings, 160));
}

// ---- SegmentWriter

TEST(SegmentWriter, HeadersEndWhereThePayloadBeginsAndIdentificationsCount) {
  LinkAddress station;
  BufferPool pool(2048);
  SegmentWriter writer(station, pool);
  const BufferRef payload = pool.take();
  SegmentFields fields;
  fields.options.timestamps = wire::TcpTimestamps{};
  const Frame data = writer.write({}, {}, fields, payload, 200, 100);
  EXPECT_EQ(data.buf.get(), payload.get());
  EXPECT_EQ(data.offset, 200 - kHeaderBytes - 12);
  EXPECT_EQ(data.bytes, kHeaderBytes + 12 + 100);
  const Frame reset = writer.write_reset({}, {}, 5, true, 6);
  EXPECT_EQ(reset.bytes, kHeaderBytes);
  EXPECT_EQ(load_be16(data.data() + 14 + 4), 0u);
  EXPECT_EQ(load_be16(reset.data() + 14 + 4), 1u);
  EXPECT_EQ(reset.data()[14 + 20 + 13], wire::TcpHeader::kRst | wire::TcpHeader::kAck);
  EXPECT_EQ(load_be32(reset.data() + 14 + 20 + 8), 6u);
}

}  // namespace
}  // namespace rnic::tcp
