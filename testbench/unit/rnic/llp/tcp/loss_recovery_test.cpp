// Which segments are lost, and which segment leaves next, without a network.
#include "model/rnic/llp/tcp/loss_recovery.h"

#include <gmock/gmock.h>

#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {
namespace {

using wire::TcpHeader;

constexpr std::uint32_t kMss = 1000, kWide = 1u << 30;

class LossRecoveryTest : public testing::Test {
 protected:
  LossRecoveryTest() { flow.start(0); }
  ~LossRecoveryTest() override { flow.clear(pool); }

  void queue(unsigned segments, std::uint16_t bytes = kMss) {
    for (unsigned i = 0; i < segments; ++i) {
      QueuedSegment s;
      s.buf = buffers.take();
      for (std::uint16_t j = 0; j < bytes; ++j) s.buf->bytes()[kFrameHeadroom + j] = static_cast<std::uint8_t>(j / 100);
      s.payload_at = kFrameHeadroom;
      s.payload_bytes = bytes;
      s.flags = TcpHeader::kAck | TcpHeader::kPsh;
      s.completes_wqe = true;
      flow.append(pool, std::move(s));
    }
  }
  // Returns the sequence number of the segment that leaves, in thousands; -1: none may.
  int send(std::uint32_t cwnd = kWide, std::uint32_t edge = kWide) {
    const std::uint32_t slot = flow.next_to_send(pool, cwnd, edge);
    if (slot == llp::kNil) return -1;
    again = flow.sent(pool, slot);
    return static_cast<int>(pool[slot].seq / kMss);
  }
  void send_all() {
    while (send() >= 0) {
    }
  }
  // An ACK of new octets. Returns true if the congestion window may grow.
  bool ack(std::uint32_t to) {
    const std::uint32_t bytes = to - flow.snd_una();
    acked = flow.acknowledge(pool, to);
    return flow.on_new_ack(pool, bytes, kMss);
  }
  // A duplicate ACK with a SACK block, in thousands. Returns true if fast recovery begins.
  bool sack(std::uint32_t left, std::uint32_t right) { return sack({{left * kMss, right * kMss}}); }
  bool sack(std::vector<wire::SackBlock> blocks) {
    news = flow.on_sack(pool, flow.snd_una(), blocks.data(), static_cast<unsigned>(blocks.size()));
    return news != 0 && (flow.on_duplicate_ack(pool, kMss) | flow.find_losses(pool, kMss));
  }

  BufferPool buffers{2048};
  LossRecovery::Pool pool;
  LossRecovery flow;
  LossRecovery::Acked acked;
  std::uint32_t news = 0;
  bool again = false;
};

TEST_F(LossRecoveryTest, NewSegmentsLeaveWithinBothWindows) {
  queue(4);
  EXPECT_EQ(send(2 * kMss), 0);
  EXPECT_FALSE(again);
  EXPECT_EQ(send(2 * kMss), 1);
  EXPECT_EQ(send(2 * kMss), -1);
  EXPECT_EQ(send(kWide, 3 * kMss - 1), -1);
  EXPECT_EQ(send(kWide, 3 * kMss), 2);
  EXPECT_EQ(flow.flight(), 3 * kMss);
  EXPECT_TRUE(flow.in_flight(0));
  EXPECT_FALSE(flow.in_flight(3 * kMss));
}

TEST_F(LossRecoveryTest, OneSegmentMayAlwaysBeInFlight) {
  queue(2);
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(send(1), -1);
}

TEST_F(LossRecoveryTest, AnAckSaysWhatItTookOffTheQueue) {
  QueuedSegment syn;
  syn.flags = TcpHeader::kSyn;
  flow.append(pool, std::move(syn));
  queue(2);
  QueuedSegment fin;
  fin.flags = TcpHeader::kFin | TcpHeader::kAck;
  flow.append(pool, std::move(fin));
  send_all();
  ack(1);
  EXPECT_TRUE(acked.syn);
  EXPECT_EQ(acked.wqes, 0u);
  ack(1 + 2 * kMss - 1);  // an octet is missing
  EXPECT_EQ(acked.wqes, 1u);
  ack(1 + 2 * kMss + 1);
  EXPECT_EQ(acked.wqes, 1u);
  EXPECT_TRUE(acked.fin);
  EXPECT_EQ(flow.snd_una(), flow.snd_end());
}

TEST_F(LossRecoveryTest, TheThirdDuplicateAckBeginsARecovery) {
  queue(6);
  send_all();
  EXPECT_TRUE(ack(kMss));
  EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_TRUE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_TRUE(flow.recovering());
  EXPECT_EQ(send(1), 1);  // whatever the congestion window is
  EXPECT_TRUE(again);
}

TEST_F(LossRecoveryTest, EachDuplicateAckTakesASegmentOutOfTheNetwork) {
  queue(6);
  send_all();
  ack(kMss);
  for (int i = 0; i < 3; ++i) flow.on_duplicate_ack(pool, kMss);
  EXPECT_EQ(flow.pipe(), 5 * kMss - 3 * kMss - kMss);  // and one is lost
  EXPECT_EQ(send(), 1);
  ack(3 * kMss);  // two segments, one of which stood for a duplicate ACK; the next one is lost
  EXPECT_EQ(flow.held_by_peer(), 2 * kMss);
  EXPECT_EQ(flow.pipe(), 3 * kMss - 2 * kMss - kMss);
}

TEST_F(LossRecoveryTest, APartialAckMakesTheNextSegmentLost) {
  queue(6);
  send_all();
  ack(kMss);
  for (int i = 0; i < 3; ++i) flow.on_duplicate_ack(pool, kMss);
  EXPECT_EQ(send(), 1);
  EXPECT_FALSE(ack(3 * kMss));
  EXPECT_TRUE(flow.recovering());
  EXPECT_EQ(send(1), 3);
  EXPECT_FALSE(ack(6 * kMss));  // ends the recovery; the next ACK makes the window grow
  EXPECT_FALSE(flow.recovering());
  queue(1);
  send_all();
  EXPECT_TRUE(ack(7 * kMss));
}

TEST_F(LossRecoveryTest, SackNamesEachSegmentThatIsLost) {
  flow.use_sack(true);
  queue(8);
  send_all();
  EXPECT_FALSE(sack(1, 2));
  EXPECT_EQ(news, kMss);
  EXPECT_FALSE(sack(1, 3));
  EXPECT_EQ(news, kMss);
  EXPECT_FALSE(sack(1, 3));
  EXPECT_EQ(news, 0u);
  EXPECT_TRUE(sack(4, 5));
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(send(1), -1);
  EXPECT_FALSE(sack(4, 7));  // three above it: segment 3 is lost as well
  EXPECT_EQ(send(), 3);
  EXPECT_EQ(send(), -1);
  EXPECT_EQ(flow.pipe(), 3 * kMss);  // 0, 3 and 7
  EXPECT_EQ(flow.held_by_peer(), 5 * kMss);
}

// RFC 6675 section 4, IsLost: three runs above, or more than two segments' worth of octets. One ACK each, so that no
// third duplicate comes first.
TEST_F(LossRecoveryTest, ThreeRunsAboveItMakeAShortSegmentLost) {
  flow.use_sack(true);
  queue(9, 100);
  send_all();
  EXPECT_FALSE(sack({{100, 400}, {500, 600}}));  // four segments, but two runs
  EXPECT_EQ(send(), -1);
  EXPECT_TRUE(sack({{700, 800}}));
  EXPECT_EQ(flow.pipe(), 900u - 500 - 100);
  EXPECT_EQ(send(), 0);
  EXPECT_EQ(send(), -1);  // 400 has two runs above it
}

TEST_F(LossRecoveryTest, MoreThanTwoSegmentsOfOctetsAboveItMakeItLost) {
  flow.use_sack(true);
  queue(3, kMss);
  queue(2, 4);
  send_all();
  EXPECT_FALSE(sack({{kMss, 3 * kMss}}));
  EXPECT_EQ(send(), -1);
  EXPECT_TRUE(sack({{kMss, 3 * kMss + 4}}));
  EXPECT_EQ(send(), 0);
  EXPECT_EQ(send(), -1);
}

TEST_F(LossRecoveryTest, ThePipeIsWhatIsNeitherHeldNorLostAndWhatWentAgain) {
  flow.use_sack(true);
  queue(12);
  send_all();
  EXPECT_TRUE(sack({{kMss, 2 * kMss}, {3 * kMss, 4 * kMss}, {5 * kMss, 9 * kMss}}));  // holes at 0, 2 and 4
  EXPECT_EQ(flow.pipe(), 3 * kMss);                                                   // 9, 10 and 11
  EXPECT_EQ(send(), 0);
  EXPECT_EQ(flow.pipe(), 4 * kMss);
  EXPECT_EQ(send(), 2);
  EXPECT_EQ(send(), 4);
  EXPECT_EQ(flow.pipe(), 6 * kMss);
  sack({{9 * kMss, 10 * kMss}});
  EXPECT_EQ(flow.pipe(), 5 * kMss);
}

// RFC 6675 section 4, NextSeg: lost segments that were not sent again, lowest first, then new ones.
TEST_F(LossRecoveryTest, WhatIsLostGoesBeforeWhatIsNew) {
  flow.use_sack(true);
  queue(8);
  send_all();
  queue(2);
  EXPECT_TRUE(sack({{kMss, 2 * kMss}, {3 * kMss, 4 * kMss}, {5 * kMss, 7 * kMss}}));  // only two above 4
  EXPECT_EQ(send(), 0);
  EXPECT_EQ(send(), 2);
  EXPECT_TRUE(again);
  EXPECT_EQ(send(kWide, 10 * kMss - 1), 8);
  EXPECT_FALSE(again);
  EXPECT_EQ(send(kWide, 10 * kMss - 1), -1);  // beyond the peer's window
  EXPECT_EQ(send(), 9);
  EXPECT_EQ(send(), -1);
}

TEST_F(LossRecoveryTest, BlocksOfWhatIsNotInFlightSayNothing) {
  flow.use_sack(true);
  queue(3);
  send_all();
  ack(kMss);
  sack(0, 1);
  EXPECT_EQ(news, 0u);
  sack(2, 4);
  EXPECT_EQ(news, 0u);
  const wire::SackBlock reversed{3 * kMss, 2 * kMss};
  EXPECT_EQ(flow.on_sack(pool, kMss, &reversed, 1), 0u);
}

TEST_F(LossRecoveryTest, AfterATimeoutAllGoesAgainWhateverSackSaid) {
  flow.use_sack(true);
  queue(3);
  send_all();
  sack(1, 2);
  flow.on_timeout(pool);
  EXPECT_TRUE(flow.recovering());
  EXPECT_EQ(flow.pipe(), 0u);
  EXPECT_EQ(send(kMss), 0);
  EXPECT_EQ(send(kMss), -1);
  EXPECT_FALSE(sack(1, 3));  // SACK no longer begins a fast recovery
  EXPECT_TRUE(ack(kMss));    // the window grows in slow start
  EXPECT_TRUE(flow.recovering());
  EXPECT_TRUE(ack(3 * kMss));
  EXPECT_FALSE(flow.recovering());
}

TEST_F(LossRecoveryTest, UntilATimeoutIsOverSackMakesNothingLost) {
  flow.use_sack(true);
  queue(2);
  send_all();
  flow.on_timeout(pool);
  send_all();
  queue(4);
  send_all();
  EXPECT_FALSE(sack(3, 6));  // three above segment 2
  EXPECT_EQ(send(), -1);
}

TEST_F(LossRecoveryTest, DuplicateAcksOfWhatATimeoutSentTwiceTellOfNoLoss) {
  queue(4);
  send_all();
  flow.on_timeout(pool);
  send_all();
  ack(4 * kMss);  // equals `recover`
  queue(4);
  send_all();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  ack(5 * kMss);
  EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_FALSE(flow.on_duplicate_ack(pool, kMss));
  EXPECT_TRUE(flow.on_duplicate_ack(pool, kMss));
}

TEST_F(LossRecoveryTest, ANarrowerPathCutsWhatIsQueuedAndResendsWhatWasSent) {
  queue(1);
  send_all();
  queue(1);
  EXPECT_EQ(flow.fit_to(pool, 400, buffers), 4u);
  EXPECT_FALSE(flow.recovering());
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t slot; (slot = flow.next_to_send(pool, kWide, kWide)) != llp::kNil;) {
    const QueuedSegment& s = pool[slot];
    EXPECT_EQ(s.buf->bytes()[s.payload_at], s.seq % kMss / 100);
    EXPECT_EQ((s.flags & TcpHeader::kPsh) != 0, s.payload_bytes == 200);  // the last piece inherits PSH
    EXPECT_EQ(s.completes_wqe, s.payload_bytes == 200);
    sizes.push_back(s.payload_bytes);
    flow.sent(pool, slot);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(400u, 400u, 200u, 400u, 400u, 200u));
}

// Sequence numbers have gone round half of their circle since the last recovery.
TEST_F(LossRecoveryTest, DuplicateAcksTellOfALossHoweverLongAgoTheLastWas) {
  constexpr std::uint16_t kLarge = 60'000;  // nothing reads the octets
  while (flow.snd_una() <= 0x8000'0000u) {
    QueuedSegment s;
    s.buf = buffers.take();
    s.payload_bytes = kLarge;
    flow.append(pool, std::move(s));
    flow.sent(pool, flow.next_to_send(pool, UINT32_MAX, flow.snd_una() + kLarge));
    ack(flow.snd_una() + kLarge);
  }
  queue(4);
  while (flow.next_to_send(pool, UINT32_MAX, flow.snd_end()) != llp::kNil) {
    flow.sent(pool, flow.next_to_send(pool, UINT32_MAX, flow.snd_end()));
  }
  for (const bool third : {false, false, true}) EXPECT_EQ(flow.on_duplicate_ack(pool, kMss), third);
}

TEST_F(LossRecoveryTest, ANarrowerPathOverrulesTheCongestionWindowOnce) {
  queue(1, 500);
  queue(1, 1500);
  send_all();
  flow.fit_to(pool, 600, buffers);
  EXPECT_EQ(flow.pipe(), 500u);  // the short one is in flight
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(send(1), -1);
}

}  // namespace
}  // namespace rnic::tcp
