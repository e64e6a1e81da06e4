// The sending half of an association against scripted SACKs: TSNs, octets and cycles in literal numbers. A cycle is 4
// ns, so the first RTO is 250000 cycles and the smallest 50000.
#include "model/rnic/llp/sctp/data_sender.h"

#include <memory>

#include <gmock/gmock.h>

#include "model/rnic/llp/sctp/rfc9260.h"
#include "model/rnic/llp/tcp/newreno.h"
#include "testbench/unit/rnic/llp/sctp/sack_octets.h"

namespace rnic::sctp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tsns = std::vector<std::uint32_t>;

constexpr std::uint8_t kWhole = 0x07, kFirst = 0x06, kMiddle = 0x04, kLast = 0x05, kImmediate = 0x08;
constexpr std::uint16_t kFull = 1436;  // user data octets of a full segment at MTU 1500: a chunk of 1452
constexpr std::uint32_t kWide = 1'000'000;

class SenderTest : public testing::Test {
 protected:
  explicit SenderTest(std::uint32_t initial_tsn = 1000) { open(initial_tsn); }
  void open(std::uint32_t initial_tsn, std::uint32_t a_rwnd = kWide, std::uint32_t mtu = 1500) {
    sender.open(initial_tsn, a_rwnd, mtu, 0);
  }
  void push(unsigned count, std::uint16_t bytes = kFull, std::uint16_t stream = 5) {
    for (; count != 0; --count) ASSERT_TRUE(sender.push({SentId{++handle}, 16, bytes, stream, false}, now));
  }
  // TSNs of the next packet.
  Tsns next(std::uint32_t room = 9000) {
    const std::uint32_t first = sender.next_octets();
    Tsns tsns;
    if (sender.next(now, room, packet)) {
      for (const DataChunk& c : packet.chunks) tsns.push_back(c.tsn);
      EXPECT_GT(first, 0u);
    }
    EXPECT_EQ(tsns.empty(), packet.chunks.empty());
    return tsns;
  }
  // TSNs of all that can leave now.
  Tsns drain() {
    Tsns all;
    for (Tsns tsns = next(); !tsns.empty(); tsns = next()) all.insert(all.end(), tsns.begin(), tsns.end());
    return all;
  }
  SackOutcome sack(std::uint32_t cumulative, const SackOctets::Blocks& gaps = {}, std::uint32_t a_rwnd = kWide) {
    const SackOctets octets(cumulative, a_rwnd, gaps);
    return sender.on_sack(octets.view, now);
  }
  Tsns released() {
    Tsns handles;
    while (const auto message = sender.take_released()) handles.push_back(message->handle.v);
    return handles;
  }
  // The timer expires when it is due.
  TimerOutcome expire() {
    now = sender.deadline();
    return sender.on_timer(now);
  }
  // Applies the current `config`.
  void reconfigure() {
    settings = std::make_unique<SenderSettings>(config, algorithm, 4000);
    sender = DataSender(*settings);
    open(1000);
  }
  // A window that lets `count` full packets leave at once.
  void fill(unsigned count) {
    config.initial_window = 90;
    config.max_burst = 100;
    reconfigure();
    push(count);
    ASSERT_EQ(drain().size(), count);
  }

  const Rfc9260 algorithm;
  SctpConfig config = [] {
    SctpConfig c;
    c.initial_window = 3;
    return c;
  }();
  std::unique_ptr<SenderSettings> settings = std::make_unique<SenderSettings>(config, algorithm, 4000);
  DataSender sender{*settings};
  DataPacket packet;
  Cycle now = 1000;
  std::uint32_t handle = 0;
};

// ---- What leaves

TEST_F(SenderTest, TheFirstWindowPassesItsEdgeByLessThanAPacket) {
  push(6);
  EXPECT_EQ(sender.cwnd(), 4404u);
  EXPECT_THAT(drain(), ElementsAre(1000, 1001, 1002, 1003));  // flight 4356 was below 4404
  EXPECT_EQ(sender.flight(), 5808u);
  EXPECT_EQ(sender.peer_window(), kWide - 4 * 1436);
  EXPECT_EQ(sender.deadline(), 251'000u);
  EXPECT_EQ(sender.next_octets(), 0u);
}

TEST_F(SenderTest, AChunkSaysWhoseItIs) {
  ASSERT_TRUE(sender.push({SentId{77}, 17, 4, 9, true}, now));
  ASSERT_TRUE(sender.push({SentId{78}, 16, 21, 8, false}, now));
  EXPECT_EQ(sender.next_octets(), 20u);
  EXPECT_THAT(next(), ElementsAre(1000, 1001));
  EXPECT_EQ(packet.octets, 20u + 40u);
  EXPECT_EQ(packet.resend, Resend::kNo);
  EXPECT_EQ(packet.chunks[0].handle.v, 77u);
  EXPECT_EQ(packet.chunks[0].ppid, 17u);
  EXPECT_EQ(packet.chunks[0].stream, 9u);
  EXPECT_EQ(packet.chunks[0].flags, kWhole | kImmediate);
  EXPECT_EQ(packet.chunks[1].bytes, 21u);
  EXPECT_EQ(packet.chunks[1].flags, kWhole);
}

TEST_F(SenderTest, ABundledSackLeavesRoomForASegmentOrGoesAlone) {
  push(1);
  push(1, 1452);  // a chunk of 1468
  EXPECT_THAT(next(1468 - 16), ElementsAre(1000));
  EXPECT_EQ(sender.next_octets(), 1468u);
  EXPECT_THAT(next(1468 - 16), IsEmpty());
  EXPECT_THAT(next(1468), ElementsAre(1001));
}

TEST_F(SenderTest, AnOccasionIsGoodForABurst) {
  config.initial_window = 90;
  reconfigure();
  push(12);
  EXPECT_EQ(sender.cwnd(), 132'120u);
  EXPECT_THAT(drain(), ElementsAre(1000, 1001, 1002, 1003));
  sack(1001);
  EXPECT_THAT(drain(), ElementsAre(1004, 1005, 1006, 1007));
  push(1);
  EXPECT_THAT(drain(), ElementsAre(1008, 1009, 1010, 1011));
}

TEST_F(SenderTest, MessagesArePiecesWhereThePathTakesNoWhole) {
  open(1000, kWide, 296);
  EXPECT_EQ(sender.pmdcs(), 264u);
  push(1, 518);
  push(1, 4);
  Tsns tsns = next();
  EXPECT_THAT(tsns, ElementsAre(1000));
  EXPECT_EQ(packet.octets, 264u);
  EXPECT_EQ(packet.chunks[0].bytes, 248u);
  EXPECT_EQ(packet.chunks[0].flags, kFirst);
  EXPECT_THAT(next(), ElementsAre(1001));
  EXPECT_EQ(packet.chunks[0].offset, 248u);
  EXPECT_EQ(packet.chunks[0].flags, kMiddle);
  EXPECT_THAT(next(), ElementsAre(1002, 1003));
  EXPECT_EQ(packet.chunks[0].offset, 496u);
  EXPECT_EQ(packet.chunks[0].bytes, 22u);
  EXPECT_EQ(packet.chunks[0].flags, kLast);
  EXPECT_EQ(packet.chunks[1].flags, kWhole);
  sack(1001);
  EXPECT_THAT(released(), IsEmpty());
  sack(1002);
  EXPECT_THAT(released(), ElementsAre(1));
}

TEST_F(SenderTest, AFullQueueTakesNothing) {
  config.send_chunks = 4;
  reconfigure();
  push(4, 4);
  EXPECT_FALSE(sender.push({SentId{9}, 16, 4, 0, false}, now));
  EXPECT_THAT(next(), ElementsAre(1000, 1001, 1002, 1003));
  push(4, 4);
  EXPECT_THAT(next(), IsEmpty());
  sack(1001);
  EXPECT_THAT(next(), IsEmpty());  // entries become free when their messages have been taken
  EXPECT_THAT(released(), ElementsAre(1, 2));
  EXPECT_THAT(next(), ElementsAre(1004, 1005));
}

// ---- SACKs

TEST_F(SenderTest, ASackFreesAndMovesTheWindowAndTheTimer) {
  push(8);
  drain();
  now = 21'000;
  const SackOutcome out = sack(1001, {}, 50'000);
  EXPECT_EQ(out.acked, 2904u);
  EXPECT_EQ(sender.cwnd(), 5872u);
  EXPECT_EQ(sender.flight(), 2904u);
  EXPECT_EQ(sender.peer_window(), 50'000u - 2 * 1436);
  EXPECT_EQ(sender.srtt(), 20'000u);                // 1000 was timed as the first
  EXPECT_EQ(sender.deadline(), 21'000u + 60'000u);  // SRTT + 4 SRTT/2
  EXPECT_THAT(released(), ElementsAre(1, 2));
  EXPECT_THAT(drain(), ElementsAre(1004, 1005, 1006));  // flight 5808 was below 5872
  EXPECT_EQ(sender.deadline(), 81'000u);
  now = 30'000;
  sack(1006);
  EXPECT_EQ(sender.deadline(), kNever);
}

TEST_F(SenderTest, AllAcknowledgedStopsTheTimer) {
  push(2);
  drain();
  sack(1001);
  EXPECT_EQ(sender.deadline(), kNever);
  EXPECT_TRUE(sender.idle());
  EXPECT_EQ(sender.flight(), 0u);
}

TEST_F(SenderTest, OldSacksAreDroppedWhole) {
  push(4);
  drain();
  sack(1001, {}, 50'000);
  const SackOutcome out = sack(1000, {{2, 2}}, 7);
  EXPECT_EQ(out.verdict, SackVerdict::kOld);
  EXPECT_EQ(sender.peer_window(), 50'000u - 2 * 1436);
  EXPECT_EQ(sender.flight(), 2904u);
}

TEST_F(SenderTest, AnAckOfWhatWasNeverSentChangesNothing) {
  push(4);
  drain();
  for (const auto& gaps : {SackOctets::Blocks{{2, 4}}, {{2, 2}, {4, 4}}, {{4, 2}}, {{2, 0xffff}}}) {
    EXPECT_EQ(sack(1000, gaps, 7).verdict, SackVerdict::kNeverSent);
  }
  EXPECT_EQ(sack(1004).verdict, SackVerdict::kNeverSent);
  EXPECT_EQ(sack(0x7fffffff).verdict, SackVerdict::kNeverSent);
  EXPECT_EQ(sender.cumulative_tsn(), 999u);
  EXPECT_EQ(sender.flight(), 5808u);
  EXPECT_EQ(sender.peer_window(), kWide - 4 * 1436);
  EXPECT_EQ(sack(1003).verdict, SackVerdict::kTaken);
}

TEST_F(SenderTest, GapBlocksTakeFromFlightAndARevocationGivesItBack) {
  push(4);
  drain();
  EXPECT_EQ(sack(1000, {{2, 3}}).acked, 3u * 1452);
  EXPECT_EQ(sender.flight(), 1452u);
  const SackOutcome out = sack(1000, {{3, 3}});
  EXPECT_EQ(out.revoked, 1u);
  EXPECT_EQ(out.acked, 0u);
  EXPECT_EQ(sender.flight(), 2904u);
  EXPECT_THAT(released(), ElementsAre(1));
  EXPECT_EQ(sack(1000, {{2, 3}}).acked, 1452u);
}

TEST_F(SenderTest, ARevocationIsAMiss) {
  fill(10);
  sack(1000, {{2, 2}});
  EXPECT_EQ(sack(1000).revoked, 1u);
  sack(1000, {{3, 3}});
  EXPECT_TRUE(sack(1000, {{3, 4}}).fast_retransmit);
  EXPECT_THAT(drain(), ElementsAre(1001, 1002));
}

TEST_F(SenderTest, UnsortedAndOverlappingBlocksSayNothingTwice) {
  fill(10);
  EXPECT_EQ(sack(1000, {{5, 6}, {2, 3}, {6, 8}, {0, 2}, {9, 9}}).acked, (1u + 5u) * 1452);  // 5 to 8, 9
  EXPECT_EQ(sender.flight(), 4u * 1452);
}

TEST_F(SenderTest, ListedDuplicatesSayNothing) {
  push(4);
  drain();
  SackOctets octets(1000, kWide, {{2, 2}});
  // 1000, 1003, and one that was never sent.
  const std::vector<std::uint8_t> tsns = {0, 0, 3, 0xe8, 0, 0, 3, 0xeb, 0xff, 0xff, 0xff, 0xff};
  octets.view.header.duplicates = 3;
  octets.view.tsns = ByteSpan(tsns.data(), tsns.size());
  const SackOutcome out = sender.on_sack(octets.view, now);
  EXPECT_EQ(out.verdict, SackVerdict::kTaken);
  EXPECT_EQ(out.acked, 2904u);
  EXPECT_EQ(sender.flight(), 2904u);
}

TEST_F(SenderTest, TheCumulativePointOfAShutdownCounts) {
  push(4);
  drain();
  sack(1000, {{3, 3}});
  const SackOutcome out = sender.on_shutdown(1001, now);
  EXPECT_EQ(out.acked, 1452u);
  EXPECT_EQ(out.revoked, 0u);
  EXPECT_THAT(released(), ElementsAre(1, 2));
  EXPECT_EQ(sender.on_shutdown(1000, now).verdict, SackVerdict::kOld);
  EXPECT_EQ(sender.on_shutdown(1004, now).verdict, SackVerdict::kNeverSent);
}

// ---- Fast retransmit

TEST_F(SenderTest, TheThirdMissResendsAtOnceAndHalves) {
  fill(20);
  const std::uint32_t cwnd = sender.cwnd();
  EXPECT_EQ(cwnd, 132'120u);
  now = 2000;
  EXPECT_FALSE(sack(999, {{2, 2}}).fast_retransmit);
  EXPECT_FALSE(sack(999, {{2, 3}}).fast_retransmit);
  EXPECT_FALSE(sack(999, {{2, 3}}).fast_retransmit);  // nothing is newly acknowledged
  now = 3000;
  const SackOutcome out = sack(999, {{2, 4}});
  EXPECT_TRUE(out.fast_retransmit);
  EXPECT_TRUE(out.recovery);
  EXPECT_EQ(sender.cwnd(), 66'060u);
  EXPECT_EQ(sender.ssthresh(), 66'060u);
  EXPECT_EQ(sender.flight(), 16u * 1452);
  EXPECT_THAT(next(), ElementsAre(1000));
  EXPECT_EQ(packet.resend, Resend::kFast);
  EXPECT_EQ(sender.deadline(), 3000 + sender.rto());
  EXPECT_EQ(sender.flight(), 17u * 1452);
  // Only once.
  for (std::uint16_t end = 5; end < 19; ++end) EXPECT_FALSE(sack(999, {{2, end}}).fast_retransmit);
  EXPECT_TRUE(sender.recovering());
  EXPECT_EQ(sender.cwnd(), 66'060u);
  sack(1018);
  EXPECT_TRUE(sender.recovering());
  sack(1019);
  EXPECT_FALSE(sender.recovering());
}

TEST_F(SenderTest, OnlyChunksBelowTheNewestAreMissed) {
  fill(20);
  sack(1001, {{9, 9}});                                       // 1010; missed: 1002 to 1009
  sack(1001, {{4, 4}, {9, 9}});                               // 1005; missed: 1002 to 1004
  EXPECT_TRUE(sack(1001, {{4, 5}, {9, 9}}).fast_retransmit);  // 1006; the third miss of 1002 to 1004
  EXPECT_THAT(drain(), ElementsAre(1002, 1003, 1004));
  EXPECT_FALSE(sack(1001, {{4, 6}, {9, 9}}).fast_retransmit);   // 1007
  EXPECT_FALSE(sack(1001, {{4, 6}, {9, 10}}).fast_retransmit);  // 1011; the second miss of 1008, 1009
  EXPECT_TRUE(sack(1002, {{3, 5}, {8, 9}}).fast_retransmit);    // the point moves in recovery: all are reported
  EXPECT_FALSE(sack(1002, {{3, 5}, {8, 9}}).recovery);
  EXPECT_THAT(drain(), ElementsAre(1008, 1009));
}

TEST_F(SenderTest, OnePacketGoesWhateverTheWindowSays) {
  push(1);
  drain();
  sack(1000);
  push(5);
  EXPECT_THAT(drain(), ElementsAre(1001, 1002, 1003, 1004));
  sack(1000, {{2, 2}});
  EXPECT_THAT(drain(), ElementsAre(1005));
  push(8);
  EXPECT_THAT(drain(), IsEmpty());
  sack(1000, {{2, 3}});
  EXPECT_THAT(drain(), ElementsAre(1006));
  EXPECT_TRUE(sack(1000, {{2, 4}}).fast_retransmit);
  EXPECT_EQ(sender.cwnd(), 5872u);
  EXPECT_THAT(next(), ElementsAre(1001));
}

TEST_F(SenderTest, LaterGapsOfARecoveryDoNotHalveAgain) {
  fill(20);
  sack(999, {{2, 2}});
  sack(999, {{2, 3}});
  EXPECT_TRUE(sack(999, {{2, 4}}).recovery);
  EXPECT_THAT(next(), ElementsAre(1000));
  sack(999, {{2, 4}, {6, 6}});
  sack(999, {{2, 4}, {6, 7}});
  const SackOutcome out = sack(999, {{2, 4}, {6, 8}});
  EXPECT_TRUE(out.fast_retransmit);
  EXPECT_FALSE(out.recovery);
  EXPECT_EQ(sender.cwnd(), 66'060u);
  const Cycle before = sender.deadline();
  now += 500;
  EXPECT_THAT(next(), ElementsAre(1004));
  EXPECT_EQ(sender.deadline(), before);  // not the lowest TSN
}

TEST_F(SenderTest, AFragmentMayBeAcknowledgedAlone) {
  open(1000, kWide, 296);
  push(1, 600);
  EXPECT_EQ(drain().size(), 3u);
  sack(999, {{2, 2}});
  EXPECT_EQ(sender.flight(), 264u + 120u);
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_THAT(next(), ElementsAre(1000));
  EXPECT_EQ(packet.resend, Resend::kTimeout);
  EXPECT_THAT(drain(), IsEmpty());
  EXPECT_EQ(packet.chunks.size(), 0u);
  sack(1001);
  EXPECT_THAT(released(), IsEmpty());
  EXPECT_THAT(drain(), ElementsAre(1002));
  sack(1002);
  EXPECT_THAT(released(), ElementsAre(1));
}

// ---- T3-rtx

TEST_F(SenderTest, ATimeoutResendsOnePacketAndDoubles) {
  push(6);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_EQ(now, 251'000u);
  EXPECT_EQ(sender.cwnd(), 1468u);
  EXPECT_EQ(sender.ssthresh(), 5872u);
  EXPECT_EQ(sender.flight(), 0u);
  EXPECT_EQ(sender.peer_window(), kWide);
  EXPECT_THAT(drain(), ElementsAre(1000));
  EXPECT_EQ(sender.deadline(), 251'000u + 500'000u);
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_THAT(drain(), ElementsAre(1000));
  EXPECT_EQ(sender.deadline(), 751'000u + 1'000'000u);
  EXPECT_EQ(sender.errors(), 2u);
  now += 1000;
  sack(1000);
  EXPECT_EQ(sender.errors(), 0u);
  EXPECT_EQ(sender.srtt(), 0u);  // it was sent twice
  EXPECT_EQ(sender.deadline(), now + 1'000'000u);
  EXPECT_EQ(sender.cwnd(), 1468u);  // 1452 in flight did not fill it
  EXPECT_THAT(drain(), ElementsAre(1001, 1002));
}

TEST_F(SenderTest, AfterATimeoutOnePacketEvenIfItIsShort) {
  push(40, 4);
  EXPECT_THAT(next().size(), 40u);
  push(1);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_EQ(next().size(), 40u);
  EXPECT_EQ(sender.flight(), 800u);
  push(1);
  sack(999);
  EXPECT_THAT(next(), IsEmpty());
  sack(999, {{2, 2}});
  EXPECT_THAT(next(), ElementsAre(1040));
}

TEST_F(SenderTest, ASackInTheTimersCycleStopsIt) {
  push(1);
  drain();
  now = sender.deadline();
  sack(1000);
  EXPECT_EQ(sender.on_timer(now), TimerOutcome::kNone);
  EXPECT_EQ(sender.errors(), 0u);
}

TEST_F(SenderTest, ASackAfterTheTimerInItsCycleTakesBackWhatWasMarked) {
  push(2);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_EQ(sack(1000).acked, 1452u);
  EXPECT_THAT(drain(), ElementsAre(1001));
  EXPECT_EQ(sender.flight(), 1452u);
}

TEST_F(SenderTest, TooManyTimeoutsLoseTheAssociation) {
  config.max_retries = 2;
  reconfigure();
  push(6);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kFailed);
  EXPECT_THAT(drain(), IsEmpty());
  sender.abandon();
  EXPECT_THAT(released(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_FALSE(sender.push({SentId{9}, 16, 4, 0, false}, now));
  EXPECT_EQ(sender.deadline(), kNever);
}

TEST_F(SenderTest, ATimeoutEndsFastRecoverySoThatSlowStartMayBegin) {
  fill(20);
  sack(999, {{2, 2}});
  sack(999, {{2, 3}});
  EXPECT_TRUE(sack(999, {{2, 4}}).recovery);
  drain();
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_FALSE(sender.recovering());
  EXPECT_EQ(sender.ssthresh(), 33'030u);
  EXPECT_THAT(drain(), ElementsAre(1000));
}

TEST_F(SenderTest, SilenceHalvesTheWindowForEachRto) {
  fill(1);
  now = 11'000;
  sack(1000);
  EXPECT_EQ(sender.rto(), 50'000u);
  now = 1000 + 149'999;  // two RTOs and part of another
  push(1);
  EXPECT_THAT(drain(), ElementsAre(1001));
  EXPECT_EQ(sender.cwnd(), 33'030u);
}

TEST_F(SenderTest, AnAnswerToAHeartbeatIsASampleAndClearsErrors) {
  push(1);
  drain();
  expire();
  EXPECT_TRUE(sender.count_error());
  EXPECT_EQ(sender.errors(), 2u);
  sender.on_answer(40'000);
  EXPECT_EQ(sender.errors(), 0u);
  EXPECT_EQ(sender.rto(), 120'000u);
  for (unsigned i = 0; i < config.max_retries; ++i) EXPECT_TRUE(sender.count_error());
  EXPECT_FALSE(sender.count_error());
}

// ---- The peer's window

TEST_F(SenderTest, NothingNewBeyondThePeersWindow) {
  open(1000, 3000);
  push(3);
  EXPECT_THAT(drain(), ElementsAre(1000, 1001));
  EXPECT_EQ(sender.peer_window(), 128u);
  sack(1000, {}, 1564);  // the window excludes octets in flight
  EXPECT_EQ(sender.peer_window(), 128u);
  EXPECT_THAT(drain(), IsEmpty());
  sack(1000, {}, 2872);
  EXPECT_THAT(drain(), ElementsAre(1002));
  EXPECT_EQ(sender.peer_window(), 0u);
}

TEST_F(SenderTest, AClosedWindowIsProbedAtDoublingTimes) {
  push(1);
  drain();
  now = 2000;
  sack(1000, {}, 0);
  push(2);
  EXPECT_THAT(drain(), IsEmpty());
  EXPECT_EQ(sender.rto(), 50'000u);
  EXPECT_EQ(sender.deadline(), 52'000u);
  EXPECT_EQ(expire(), TimerOutcome::kProbe);
  EXPECT_THAT(drain(), ElementsAre(1001));
  EXPECT_EQ(sender.deadline(), 52'000u + 100'000u);
  for (unsigned i = 0; i < 12; ++i) {  // more often than max_retries
    now += 1000;
    sack(1000, {}, 0);
    EXPECT_EQ(expire(), TimerOutcome::kResend);
    EXPECT_EQ(sender.errors(), 0u);
    EXPECT_THAT(drain(), ElementsAre(1001));
  }
  EXPECT_EQ(sender.deadline() - now, 25'000'000u);  // RTO.Max
  EXPECT_EQ(expire(), TimerOutcome::kResend);
  EXPECT_EQ(sender.errors(), 1u);  // no SACK arrived
}

TEST_F(SenderTest, AWindowThatOpensResendsADroppedProbeAtOnce) {
  push(1);
  drain();
  sack(1000, {}, 0);
  push(2);
  EXPECT_EQ(expire(), TimerOutcome::kProbe);
  EXPECT_THAT(drain(), ElementsAre(1001));
  sack(1000, {}, 1435);
  EXPECT_THAT(drain(), IsEmpty());
  sack(1000, {}, 50'000);
  EXPECT_THAT(next(), ElementsAre(1001));
  EXPECT_EQ(packet.resend, Resend::kWindowOpened);
  EXPECT_THAT(drain(), ElementsAre(1002));
  sack(1000, {}, 50'000);  // of an earlier packet
  EXPECT_THAT(drain(), IsEmpty());
}

TEST_F(SenderTest, AWindowThatOpensBeforeTheProbeStopsIt) {
  push(1);
  drain();
  sack(1000, {}, 0);
  push(1);
  EXPECT_NE(sender.deadline(), kNever);
  sack(1000, {}, 1436);
  EXPECT_EQ(sender.deadline(), kNever);
  EXPECT_THAT(drain(), ElementsAre(1001));
}

// ---- The path

TEST_F(SenderTest, AShorterPathCutsWhatWasNotSentAndResendsTheRest) {
  push(5);
  EXPECT_THAT(drain(), ElementsAre(1000, 1001, 1002, 1003));
  EXPECT_TRUE(sender.on_path_mtu(1000));
  EXPECT_EQ(sender.pmdcs(), 968u);
  EXPECT_EQ(sender.cwnd(), 4404u);
  EXPECT_EQ(sender.flight(), 0u);
  EXPECT_THAT(next(), ElementsAre(1000));
  EXPECT_EQ(packet.resend, Resend::kPathMtu);
  EXPECT_TRUE(packet.beyond_path_mtu);
  EXPECT_EQ(packet.octets, 1452u);
  EXPECT_THAT(next(967), IsEmpty());
  EXPECT_THAT(next(968), ElementsAre(1001));
  EXPECT_THAT(drain(), ElementsAre(1002, 1003));
  sack(1003);
  EXPECT_THAT(next(), ElementsAre(1004));
  EXPECT_EQ(packet.chunks[0].bytes, 952u);
  EXPECT_EQ(packet.chunks[0].flags, kFirst);
  EXPECT_FALSE(packet.beyond_path_mtu);
  EXPECT_THAT(next(), ElementsAre(1005));
  EXPECT_EQ(packet.chunks[0].offset, 952u);
  EXPECT_EQ(packet.chunks[0].flags, kLast);
  EXPECT_FALSE(sender.on_path_mtu(1000));
  EXPECT_FALSE(sender.on_path_mtu(1400));
  EXPECT_TRUE(sender.on_path_mtu(68));  // not below path_mtu_min
  EXPECT_EQ(sender.pmdcs(), 544u);
}

// ---- TCP's congestion control

TEST_F(SenderTest, AnAlgorithmOfTcpServesAsWell) {
  const tcp::NewReno newreno;
  const SenderSettings tcp_settings(config, newreno, 4000);
  sender = DataSender(tcp_settings);
  open(1000);
  EXPECT_EQ(sender.cwnd(), 4380u);
  push(40);
  EXPECT_THAT(drain(), ElementsAre(1000, 1001, 1002, 1003));
  sack(1003);
  EXPECT_EQ(sender.cwnd(), 5848u);
  EXPECT_THAT(drain(), ElementsAre(1004, 1005, 1006, 1007));
  sack(1003, {{2, 2}});
  EXPECT_EQ(sender.cwnd(), 7300u);
  EXPECT_THAT(drain(), ElementsAre(1008, 1009, 1010));
  sack(1003, {{2, 3}});
  EXPECT_TRUE(sack(1003, {{2, 4}}).recovery);
  EXPECT_THAT(next(), ElementsAre(1004));
  EXPECT_EQ(sender.ssthresh(), 2936u);  // half of the flight, at least two packets
}

// ---- The wrap of TSNs

TEST_F(SenderTest, TsnsWrapInTheMiddleOfARecovery) {
  fill(1);
  open(0xfffffffd);
  push(8);
  EXPECT_THAT(drain(), ElementsAre(0xfffffffd, 0xfffffffe, 0xffffffff, 0, 1, 2, 3, 4));
  sack(0xfffffffd, {{2, 2}});  // 0xffffffff
  sack(0xfffffffd, {{2, 3}});  // 0
  EXPECT_TRUE(sack(0xfffffffd, {{2, 4}}).recovery);
  EXPECT_THAT(drain(), ElementsAre(0xfffffffe));
  EXPECT_EQ(sack(0xfffffffd, {{2, 8}}).verdict, SackVerdict::kNeverSent);
  EXPECT_EQ(sack(5).verdict, SackVerdict::kNeverSent);
  EXPECT_EQ(sack(3).acked, 3u * 1452);
  EXPECT_TRUE(sender.recovering());
  EXPECT_EQ(sack(0xffffffff).verdict, SackVerdict::kOld);
  sack(4);
  EXPECT_FALSE(sender.recovering());
  EXPECT_EQ(sender.next_tsn(), 5u);
}

TEST_F(SenderTest, ANewAssociationForgetsTheOldOne) {
  fill(20);
  sack(999, {{2, 4}});
  push(3);
  open(5, 3000);
  EXPECT_TRUE(sender.idle());
  EXPECT_EQ(sender.flight(), 0u);
  EXPECT_THAT(released(), IsEmpty());
  push(3);
  EXPECT_THAT(drain(), ElementsAre(5, 6));
}

}  // namespace
}  // namespace rnic::sctp
