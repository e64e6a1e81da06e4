// When a flow acknowledges, and what its segments report of the received data, without a network.
#include "model/rnic/llp/tcp/ack_policy.h"

#include <vector>

#include <gmock/gmock.h>

namespace rnic::tcp {
namespace {

using testing::ElementsAre;
using wire::TcpHeader;
using Due = AckPolicy::Due;

constexpr std::uint64_t kPeriodPs = 4000;

// ---- SackList

std::vector<std::uint32_t> left_edges(const SackList& list, bool timestamps = false) {
  wire::TcpOptions options;
  if (timestamps) options.timestamps = wire::TcpTimestamps{};
  list.write(options);
  std::vector<std::uint32_t> lefts;
  for (std::size_t i = 0; i < options.sack_blocks; ++i) lefts.push_back(options.sack[i].left);
  return lefts;
}

TEST(SackList, TheLatestRunGoesFirst) {
  SackList list;
  for (std::uint32_t left : {100u, 300u, 500u, 700u, 900u}) list.note({left, left + 10}, 50);
  EXPECT_THAT(left_edges(list), ElementsAre(900u, 700u, 500u, 300u));
}

TEST(SackList, HasRoomForThreeBesideTimestamps) {
  SackList list;
  for (std::uint32_t left : {100u, 300u, 500u, 700u}) list.note({left, left + 10}, 50);
  EXPECT_THAT(left_edges(list, true), ElementsAre(700u, 500u, 300u));
}

TEST(SackList, ARunTakesInThoseThatItCovers) {
  SackList list;
  list.note({100, 110}, 50);
  list.note({120, 130}, 50);
  list.note({300, 310}, 50);
  list.note({100, 130}, 50);
  EXPECT_THAT(left_edges(list), ElementsAre(100u, 300u));
}

TEST(SackList, ForgetsWhatIsAcknowledged) {
  SackList list;
  list.note({100, 110}, 50);
  list.note({300, 310}, 50);
  list.note({}, 110);
  EXPECT_THAT(left_edges(list), ElementsAre(300u));
  list.note({200, 310}, 310);  // the run that filled the gap
  EXPECT_TRUE(list.empty());
}

TEST(SackList, SequenceNumbersWrap) {
  SackList list;
  list.note({0xfffffff0, 5}, 0xffffff00);
  list.note({10, 20}, 0xffffff00);
  list.note({}, 5);
  EXPECT_THAT(left_edges(list), ElementsAre(10u));
}

// ---- MarkEcho

TEST(MarkEcho, GoesOnUntilThePeerReducedItsWindow) {
  MarkEcho marks;
  marks.on_segment(true, false);
  marks.on_segment(false, false);
  EXPECT_TRUE(marks.echo());
  marks.on_segment(false, true);
  EXPECT_FALSE(marks.echo());
  marks.on_segment(true, true);  // marked again
  EXPECT_TRUE(marks.echo());
}

TEST(MarkEcho, OfDctcpAcknowledgesWhatCameBeforeTheChange) {
  MarkEcho marks;
  EXPECT_FALSE(marks.on_segment_dctcp(true, false, 100));  // nothing before it
  EXPECT_TRUE(marks.echo());
  EXPECT_FALSE(marks.on_segment_dctcp(true, true, 200));  // no change
  EXPECT_TRUE(marks.on_segment_dctcp(false, true, 300));
  EXPECT_FALSE(marks.on_segment_dctcp(true, true, 400));  // an ACK is owed already: it goes first
  EXPECT_TRUE(marks.owes_earlier());
  const MarkEcho::Earlier earlier = marks.take_earlier();
  EXPECT_EQ(earlier.ack, 300u);
  EXPECT_TRUE(earlier.echo);
  EXPECT_FALSE(marks.owes_earlier());
}

// ---- ChallengeLimit

TEST(ChallengeLimit, CountsWithinAnIntervalThatTheFirstOneBegins) {
  ChallengeLimit limit;
  EXPECT_TRUE(limit.allow(1000, 100, 2));
  EXPECT_TRUE(limit.allow(1099, 100, 2));
  EXPECT_FALSE(limit.allow(1099, 100, 2));
  EXPECT_TRUE(limit.allow(1100, 100, 2));
  EXPECT_TRUE(limit.allow(1199, 100, 2));
  EXPECT_FALSE(limit.allow(1199, 100, 2));
}

// ---- AckPolicy

class AckPolicyTest : public testing::Test {
 protected:
  AckPolicyTest() { restart(); }
  void restart() {
    settings = AckSettings(config, kPeriodPs);
    acks = {};
    acks.agree(agreed);
    acks.start(settings, 1000, true);
    write(true);  // the peer learns of the window
  }
  // A segment from the peer.
  RxFeedback segment(std::uint32_t seq, std::uint16_t payload) {
    RxFeedback fb;
    fb.acks = true;
    fb.seq = seq;
    fb.payload = payload;
    fb.rcv_nxt = seq + payload;
    fb.rcv_edge = fb.rcv_nxt + config.window_bytes;
    return fb;
  }
  SegmentFields write(bool bare, std::uint8_t flags = TcpHeader::kAck) {
    SegmentFields fields;
    fields.flags = flags;
    done = acks.write(settings, now, bare, fields);
    return fields;
  }

  TcpConfig config;
  Agreed agreed;
  AckSettings settings{config, kPeriodPs};
  AckPolicy acks;
  Cycle now = 0;
  bool done = false;
};

TEST_F(AckPolicyTest, EverySecondSegmentIsAcknowledgedAtOnce) {
  EXPECT_EQ(acks.on_segment(settings, true), Due::kDelayed);
  EXPECT_FALSE(acks.owed());
  EXPECT_EQ(acks.on_segment(settings, true), Due::kNow);
  EXPECT_TRUE(acks.owed());
  write(false);  // any segment carries it
  EXPECT_TRUE(done);
  EXPECT_FALSE(acks.owed());
  EXPECT_EQ(acks.on_segment(settings, true), Due::kDelayed);
}

TEST_F(AckPolicyTest, WhatMayNotWaitIsAcknowledgedAtOnce) {
  EXPECT_EQ(acks.on_segment(settings, false), Due::kNow);
  EXPECT_TRUE(acks.owed());
}

TEST_F(AckPolicyTest, TheDelayIsOverOnlyForWhatWasNotAcknowledged) {
  EXPECT_FALSE(acks.on_delay_over());
  acks.on_segment(settings, true);
  EXPECT_TRUE(acks.on_delay_over());
  EXPECT_TRUE(acks.owed());
}

TEST_F(AckPolicyTest, AWindowUpdateIsDueAfterTwoSegmentsOfRoom) {
  config.window_bytes = 8192;
  restart();
  RxFeedback fb;  // the peer knows the window up to 9192, and a step is 2920
  fb.rcv_nxt = 6272;
  fb.rcv_edge = 9192 + 2920;
  acks.on_feedback(settings, fb);
  EXPECT_FALSE(acks.window_update_due(settings));  // two segments fit in the window that it knows
  fb.rcv_nxt = 6273;
  acks.on_feedback(settings, fb);
  EXPECT_TRUE(acks.window_update_due(settings));
  write(false);
  EXPECT_FALSE(acks.window_update_due(settings));
  restart();
  fb.rcv_edge = 9192 + 2919;
  acks.on_feedback(settings, fb);
  EXPECT_FALSE(acks.window_update_due(settings));
}

TEST_F(AckPolicyTest, ThePeerIsNotToldOfOctetsBeforeItsSequenceNumbersAreKnown) {
  acks = {};
  acks.start(settings, 0, false);
  acks.on_feedback(settings, segment(5000, 100));
  EXPECT_EQ(acks.rcv_nxt(), 0u);
  acks.start(settings, 5000, true);
  acks.on_feedback(settings, segment(5000, 100));
  EXPECT_EQ(acks.rcv_nxt(), 5100u);
}

TEST_F(AckPolicyTest, WindowsAreScaledButNotThoseOfASyn) {
  agreed.scaling = true;
  restart();
  EXPECT_EQ(write(true).window, config.window_bytes >> config.window_scale());
  EXPECT_EQ(write(true, TcpHeader::kSyn | TcpHeader::kAck).window, 0xffff);
}

TEST_F(AckPolicyTest, WhileRunsAreKeptOnlyABareSegmentAcknowledges) {
  agreed.sack = true;
  restart();
  RxFeedback fb = segment(3000, 500);
  fb.rcv_nxt = 1000;
  fb.kept = {3000, 3500};
  acks.on_feedback(settings, fb);
  acks.on_segment(settings, false);
  EXPECT_EQ(write(false).options.sack_blocks, 0u);
  EXPECT_FALSE(done);
  EXPECT_TRUE(acks.owed());
  const SegmentFields bare = write(true);
  EXPECT_TRUE(done);
  EXPECT_EQ(bare.ack, 1000u);
  ASSERT_EQ(bare.options.sack_blocks, 1u);
  EXPECT_EQ(bare.options.sack[0].right, 3500u);
  EXPECT_FALSE(acks.owed());
}

TEST_F(AckPolicyTest, EchoesTheTimestampOfTheSegmentThatMovedTheWindow) {
  agreed.timestamps = true;
  agreed.ts_recent = 7;
  restart();
  RxFeedback fb = segment(1000, 100);
  fb.timestamps = true;
  fb.stamps.value = 20;
  acks.on_feedback(settings, fb);
  fb = segment(1100, 100);  // not acknowledged yet: the first one's stamp is echoed (RFC 7323 section 4.3)
  fb.timestamps = true;
  fb.stamps.value = 30;
  acks.on_feedback(settings, fb);
  now = 1000;  // 4 us
  const SegmentFields fields = write(true);
  ASSERT_TRUE(fields.options.timestamps);
  EXPECT_EQ(fields.options.timestamps->echo_reply, 20u);
  EXPECT_EQ(fields.options.timestamps->value, 4u);
  EXPECT_EQ(write(true, TcpHeader::kSyn).options.timestamps->echo_reply, 0u);  // no ACK, no echo
}

TEST_F(AckPolicyTest, OfDctcpAcknowledgesInTwoStepsWhereTheMarkChanged) {
  agreed.ecn = true;
  config.congestion = CongestionAlgorithm::kDctcp;
  restart();
  acks.on_feedback(settings, segment(1000, 100));
  acks.on_segment(settings, true);
  RxFeedback marked = segment(1100, 100);
  marked.ce = true;
  EXPECT_TRUE(acks.on_feedback(settings, marked));
  acks.on_segment(settings, true);
  SegmentFields first;
  first.flags = TcpHeader::kAck;
  EXPECT_EQ(acks.write_earlier(settings, now, first), Due::kDelayed);  // the second one keeps waiting
  EXPECT_EQ(first.ack, 1100u);
  EXPECT_FALSE(first.flags & TcpHeader::kEce);
  EXPECT_FALSE(acks.owes_earlier());
  const SegmentFields second = write(true);
  EXPECT_EQ(second.ack, 1200u);
  EXPECT_TRUE(second.flags & TcpHeader::kEce);
}

TEST_F(AckPolicyTest, WithoutTheAgreementNoMarkIsEchoed) {
  RxFeedback marked = segment(1000, 100);
  marked.ce = true;
  EXPECT_FALSE(acks.on_feedback(settings, marked));
  EXPECT_FALSE(write(true).flags & TcpHeader::kEce);
}

TEST_F(AckPolicyTest, AChallengeBeyondTheLimitIsWithheld) {
  config.challenge_acks = 1;
  restart();
  EXPECT_TRUE(acks.challenge(settings, 10));
  EXPECT_TRUE(acks.owed());
  write(true);
  EXPECT_FALSE(acks.challenge(settings, 11));
  EXPECT_FALSE(acks.owed());
}

}  // namespace
}  // namespace rnic::tcp
