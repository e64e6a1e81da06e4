// The sending half of a connection, without a network: reactions to an ACK, a timeout or a router's report.
#include "model/rnic/llp/tcp/sender.h"

#include <gmock/gmock.h>

#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {
namespace {

using wire::TcpHeader;

constexpr std::uint32_t kMss = 1000, kWindow = 8 * kMss;

class SenderTest : public testing::Test {
 protected:
  SenderTest() {
    config.rto_initial_us = 100;
    config.rto_min_us = 100;
    config.max_retries = 3;
    config.syn_retries = 1;
    config.initial_window = 4;
    agreed.emss = kMss;
    agreed.sack = true;
  }
  ~SenderTest() override { sender.clear(*resources); }

  // iss is -1, so that the stream begins at 0.
  void open() {
    resources.emplace(config, 1'000'000, buffers);  // a cycle is a microsecond
    sender.open(*resources, 0xffffffff, false, agreed, window, 0);
  }
  void establish() {
    open();
    send();
    ASSERT_TRUE(sender.establish(*resources, agreed, 0, window, 0, now).syn);
  }
  void enter_rdma() {
    establish();
    sender.enter_rdma();
  }
  void queue(unsigned fpdus, std::uint16_t bytes = kMss) {
    for (unsigned i = 0; i < fpdus; ++i) {
      QueuedSegment s;
      s.buf = buffers.take();
      s.payload_at = kFrameHeadroom;
      s.payload_bytes = bytes;
      s.flags = TcpHeader::kAck | TcpHeader::kPsh;
      s.completes_wqe = true;
      sender.queue_fpdu(*resources, std::move(s), cuts);
    }
  }
  // Returns the segment that leaves; nullptr: none may.
  const QueuedSegment* send() {
    const std::uint32_t slot = sender.next_to_send(*resources);
    if (slot == llp::kNil) return nullptr;
    departure = sender.send(*resources, slot, now);
    return &resources->segments[slot];
  }
  unsigned send_all() {
    unsigned segments = 0;
    while (send() != nullptr) ++segments;
    return segments;
  }
  Sender::AckOutcome ack(std::uint32_t to, std::uint32_t octets = kWindow, std::uint8_t flags = TcpHeader::kAck) {
    RxFeedback fb;
    fb.ack = to;
    fb.window = octets;
    fb.flags = flags;
    const Sender::AckOutcome outcome = sender.on_ack(*resources, fb, now);
    sender.fit_to_window(*resources);
    return outcome;
  }

  TcpConfig config;
  Agreed agreed;
  BufferPool buffers{5000};
  std::optional<SenderResources> resources;
  Sender sender;
  Sender::Departure departure;
  std::uint32_t cuts = 0;
  std::uint32_t window = kWindow;  // of the peer, initially
  Cycle now = 0;
};

TEST_F(SenderTest, TheHandshake) {
  agreed.ecn = true;
  open();
  EXPECT_EQ(send()->flags, TcpHeader::kSyn | TcpHeader::kEce | TcpHeader::kCwr);
  EXPECT_FALSE(departure.ect);
  EXPECT_EQ(sender.timeout(*resources), 100u);
  EXPECT_TRUE(sender.establish(*resources, agreed, 0, kWindow, 0, now).syn);
  EXPECT_EQ(sender.timeout(*resources), kNever);
  EXPECT_EQ(sender.grantable(), 0u);  // not in RDMA mode yet
}

TEST_F(SenderTest, ASynOffersWhatIsConfiguredAndAcceptsWhatThePeerOffered) {
  agreed.scaling = true;
  open();
  wire::TcpOptions options;
  sender.write_syn_options(config, options);
  EXPECT_EQ(options.mss, config.mss());
  EXPECT_EQ(options.window_scale, config.window_scale());
  EXPECT_TRUE(options.sack_permitted);
  agreed = {};
  agreed.emss = kMss;
  sender.clear(*resources);
  sender = {};
  sender.open(*resources, 0, true, agreed, kWindow, 0);
  options = {};
  sender.write_syn_options(config, options);
  EXPECT_FALSE(options.window_scale.has_value());
  EXPECT_FALSE(options.sack_permitted);
}

TEST_F(SenderTest, ALostSynLeavesAWindowOfOneSegment) {
  open();
  send();
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kGaveUp);
  sender.establish(*resources, agreed, 0, kWindow, 0, now);
  sender.enter_rdma();
  EXPECT_EQ(sender.grantable(), kMss);
}

TEST_F(SenderTest, CreditIsTheSmallerOfBothWindows) {
  enter_rdma();
  EXPECT_EQ(sender.grantable(), 4 * kMss);
  sender.grant(4 * kMss);
  EXPECT_EQ(sender.grantable(), 0u);
  queue(4);
  EXPECT_EQ(send_all(), 4u);
  ack(4 * kMss);  // slow start: one more segment
  EXPECT_EQ(sender.grantable(), 5 * kMss);
  ack(4 * kMss, 2 * kMss);  // the peer shrinks its window
  EXPECT_EQ(sender.grantable(), 2 * kMss);
}

TEST_F(SenderTest, AnAckOfNewOctetsRestartsTheTimerAndCountsWorkRequests) {
  enter_rdma();
  queue(3);
  send_all();
  const Sender::AckOutcome outcome = ack(2 * kMss);
  EXPECT_EQ(outcome.acked.wqes, 2u);
  EXPECT_TRUE(outcome.restart_timer);
  EXPECT_TRUE(ack(kMss).old);
}

TEST_F(SenderTest, WithoutSackADuplicateAckIsPureAndHasTheSameWindow) {
  agreed.sack = false;
  enter_rdma();
  queue(4);
  send_all();
  EXPECT_TRUE(ack(0).duplicate);
  EXPECT_FALSE(ack(0, kWindow + 1).duplicate);
  EXPECT_TRUE(ack(0, kWindow + 1).duplicate);
  const Sender::AckOutcome third = ack(0, kWindow + 1);
  EXPECT_TRUE(third.duplicate);
  EXPECT_TRUE(third.loss);
  EXPECT_EQ(send()->seq, 0u);
  EXPECT_TRUE(departure.again);
  EXPECT_EQ(departure.resend, Resend::kFast);
}

// RFC 5681 section 2: those of its five conditions that the ACK alone shows.
TEST_F(SenderTest, ADuplicateAckHasNoOctetsAndNoFinAndSomethingIsOutstanding) {
  agreed.sack = false;
  enter_rdma();
  EXPECT_FALSE(ack(0).duplicate);
  queue(4);
  send_all();
  EXPECT_FALSE(ack(0, kWindow, TcpHeader::kAck | TcpHeader::kFin).duplicate);
  EXPECT_FALSE(ack(0, kWindow, TcpHeader::kAck | TcpHeader::kSyn).duplicate);
  RxFeedback fb;
  fb.window = kWindow;
  fb.flags = TcpHeader::kAck;
  fb.payload = 1;
  EXPECT_FALSE(sender.on_ack(*resources, fb, now).duplicate);
  EXPECT_TRUE(ack(0).duplicate);
  ack(4 * kMss);
  EXPECT_FALSE(ack(4 * kMss).duplicate);
}

// RFC 5681 section 3.2, step 2: segments sent by limited transmit do not count.
TEST_F(SenderTest, ALossHalvesWhatWasInFlightBeforeTheDuplicates) {
  agreed.sack = false;
  config.initial_window = 8;
  window = 20 * kMss;
  enter_rdma();
  queue(12);
  EXPECT_EQ(send_all(), 8u);
  ack(0, window);
  EXPECT_EQ(send_all(), 1u);
  ack(0, window);
  EXPECT_EQ(send_all(), 1u);
  EXPECT_TRUE(ack(0, window).loss);
  EXPECT_EQ(sender.slow_start_threshold(), 4 * kMss);
  EXPECT_EQ(sender.congestion_window(), 4 * kMss);
  EXPECT_EQ(send()->seq, 0u);
  ack(9 * kMss, window);  // below the highest segment sent
  EXPECT_EQ(send()->seq, 9 * kMss);
  EXPECT_TRUE(departure.again);
  ack(10 * kMss, window);
  EXPECT_EQ(sender.congestion_window(), 4 * kMss);
  EXPECT_EQ(send_all(), 2u);
}

// Segments sent meanwhile within the window count.
TEST_F(SenderTest, ALossHalvesWhatTheWindowLetGoAmongTheDuplicates) {
  agreed.sack = false;
  config.initial_window = 12;
  window = 20 * kMss;
  enter_rdma();
  queue(4);
  send_all();
  ack(0, window);
  queue(4);
  EXPECT_EQ(send_all(), 4u);
  ack(0, window);
  EXPECT_TRUE(ack(0, window).loss);
  EXPECT_EQ(sender.slow_start_threshold(), 4 * kMss);
}

// Three losses in one window count as one; a loss in the next window counts again (RFC 5681 section 4.3, RFC 6675
// section 5).
TEST_F(SenderTest, EachWindowWithLossesIsHalvedOnce) {
  config.initial_window = 16;
  window = 40 * kMss;
  enter_rdma();
  queue(16);
  EXPECT_EQ(send_all(), 16u);
  const auto sack = [this](std::uint32_t to, std::vector<wire::SackBlock> blocks) {
    RxFeedback fb;
    fb.ack = to * kMss;
    fb.window = window;
    fb.flags = TcpHeader::kAck;
    fb.sack_blocks = static_cast<std::uint8_t>(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) fb.sack[i] = {blocks[i].left * kMss, blocks[i].right * kMss};
    return sender.on_ack(*resources, fb, now).loss;
  };
  EXPECT_TRUE(sack(0, {{1, 4}}));  // 0 is lost
  EXPECT_EQ(sender.slow_start_threshold(), 8 * kMss);
  EXPECT_EQ(send()->seq, 0u);
  EXPECT_FALSE(sack(0, {{5, 8}, {1, 4}}));   // 4 is lost
  EXPECT_EQ(send(), nullptr);                // nine are in flight
  EXPECT_FALSE(sack(4, {{9, 16}, {5, 8}}));  // 8 is lost; a partial ACK
  EXPECT_EQ(send()->seq, 4 * kMss);
  EXPECT_EQ(send()->seq, 8 * kMss);
  EXPECT_FALSE(sack(8, {{9, 16}}));
  EXPECT_EQ(sender.congestion_window(), 8 * kMss);
  EXPECT_FALSE(sack(16, {}));
  EXPECT_EQ(sender.congestion_window(), 8 * kMss);  // congestion avoidance: each further segment takes a window
  queue(9);
  EXPECT_EQ(send_all(), 8u);
  for (std::uint32_t i = 17; i <= 23; ++i) {
    ack(i * kMss, window);
    queue(1);
    send_all();
    EXPECT_EQ(sender.congestion_window(), 8 * kMss) << i;
  }
  ack(24 * kMss, window);
  EXPECT_EQ(sender.congestion_window(), 9 * kMss);
  queue(4);
  send_all();
  EXPECT_TRUE(sack(24, {{25, 28}}));
  EXPECT_EQ(sender.slow_start_threshold(), 9 * kMss / 2);
  EXPECT_EQ(sender.congestion_window(), 9 * kMss / 2);
}

// RFC 5681 section 3.1.
TEST_F(SenderTest, TimeoutsOfASegmentLowerTheThresholdOnce) {
  config.initial_window = 8;
  enter_rdma();
  queue(8);
  send_all();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);
    EXPECT_EQ(sender.congestion_window(), kMss);
    EXPECT_EQ(sender.slow_start_threshold(), 4 * kMss);
    EXPECT_EQ(send()->seq, 0u);
    EXPECT_EQ(send(), nullptr);
  }
  ack(2 * kMss);
  sender.on_timeout(*resources);  // of another segment
  EXPECT_EQ(sender.slow_start_threshold(), 3 * kMss);
}

// RFC 6298 section 3: four samples. SRTT and four times RTTVAR were computed by hand.
TEST_F(SenderTest, EachRoundTripIsMeasured) {
  config.rto_min_us = 1;
  enter_rdma();
  const auto round = [this](Cycle rtt) {
    queue(3);
    for (int i = 0; i < 3; ++i, ++now) send();
    now += rtt - 3;
    ack(sender.snd_nxt());
    queue(1);
    send();
    const Cycle rto = sender.timeout(*resources);
    now += rtt;
    ack(sender.snd_nxt());
    return rto;
  };
  EXPECT_EQ(round(800), 100u + 800u);
  EXPECT_EQ(round(1600), 364u + 2388u);
}

// RFC 5681 section 4.3: two losses. The second one halves the window of the recovery.
TEST_F(SenderTest, ALostRetransmissionReducesTheThresholdAgain) {
  agreed.sack = false;
  config.initial_window = 8;
  enter_rdma();
  queue(8);
  send_all();
  for (int i = 0; i < 3; ++i) ack(0);
  EXPECT_EQ(sender.slow_start_threshold(), 4 * kMss);
  EXPECT_EQ(send()->seq, 0u);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);
  EXPECT_EQ(sender.slow_start_threshold(), 2 * kMss);
  EXPECT_EQ(sender.congestion_window(), kMss);
}

TEST_F(SenderTest, AnEchoReducesTheWindowOnceAndTheNextNewSegmentSaysSo) {
  agreed.ecn = true;
  enter_rdma();
  queue(4);
  send_all();
  EXPECT_TRUE(departure.ect);
  EXPECT_FALSE(departure.cwr);
  EXPECT_TRUE(ack(kMss, kWindow, TcpHeader::kAck | TcpHeader::kEce).echo);
  EXPECT_FALSE(ack(2 * kMss, kWindow, TcpHeader::kAck | TcpHeader::kEce).echo);
  ack(4 * kMss);
  queue(1);
  send();
  EXPECT_TRUE(departure.cwr);
}

TEST_F(SenderTest, UntilATimeoutIsOverAnEchoReducesNothing) {
  agreed.ecn = true;
  enter_rdma();
  queue(4);
  send_all();
  sender.on_timeout(*resources);
  EXPECT_FALSE(ack(kMss, kWindow, TcpHeader::kAck | TcpHeader::kEce).echo);
}

// RFC 3168 section 6.1.2: a timeout is a reduction, too. Marks from before it belong to the same congestion.
TEST_F(SenderTest, ATimeoutEndsTheRoundAndTheNextNewSegmentSaysSo) {
  agreed.ecn = true;
  enter_rdma();
  queue(4);
  send_all();
  sender.on_timeout(*resources);
  ASSERT_TRUE(send() != nullptr && departure.again);
  EXPECT_EQ(departure.resend, Resend::kTimeout);
  EXPECT_FALSE(departure.cwr || departure.ect);
  EXPECT_FALSE(ack(4 * kMss, kWindow, TcpHeader::kAck | TcpHeader::kEce).echo);
  queue(1);
  ASSERT_TRUE(send() != nullptr && !departure.again);
  EXPECT_TRUE(departure.cwr);
  EXPECT_TRUE(ack(5 * kMss, kWindow, TcpHeader::kAck | TcpHeader::kEce).echo);  // a mark on later data
}

TEST_F(SenderTest, APeerThatClosesItsWindowIsNotGivenUp) {
  enter_rdma();
  queue(1);
  send_all();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);
    ack(0, kMss - 1);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kGaveUp);
}

// RFC 9293 section 3.8.6: usable windows may be negative.
TEST_F(SenderTest, AWindowThatShrinksHoldsBackWhatIsNew) {
  enter_rdma();
  sender.grant(3 * kMss);
  queue(2);
  send_all();
  queue(1);
  ack(0, 1500);  // below the octets already sent
  EXPECT_EQ(send(), nullptr);
  EXPECT_EQ(sender.grantable(), 0u);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kResend);  // as usual
  EXPECT_EQ(send()->seq, 0u);
  ack(2 * kMss, kWindow);
  EXPECT_EQ(send()->seq, 2 * kMss);
}

TEST_F(SenderTest, AShortWindowIsProbedForAsLongAsThePeerAnswers) {
  enter_rdma();
  sender.grant(kMss);
  queue(1);
  send_all();
  EXPECT_TRUE(ack(kMss, 0).restart_timer);
  EXPECT_EQ(sender.timeout(*resources), 100u);
  for (unsigned i = 1; i < 6; ++i) {
    EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kProbe);
    EXPECT_TRUE(ack(kMss, 0).restart_timer);
    EXPECT_EQ(sender.timeout(*resources), Cycle{100} << i);
  }
  EXPECT_EQ(sender.grantable(), 0u);
  EXPECT_TRUE(ack(kMss, kWindow).restart_timer);
  EXPECT_EQ(sender.timeout(*resources), kNever);
}

// ---- Windows that hold no segment (RFC 9293 section 3.8.6.2.1)

TEST_F(SenderTest, OfAWindowThatIsHalfOfTheLargestEveryOctetIsUsed) {
  agreed.emss = 4 * kMss;
  window = 3 * kMss;
  enter_rdma();
  EXPECT_EQ(sender.grantable(), 4 * kMss);  // a whole FPDU
  sender.grant(4 * kMss);
  queue(1, 4 * kMss);
  EXPECT_EQ(cuts, 1u);
  EXPECT_EQ(send()->payload_bytes, 3 * kMss);
  EXPECT_EQ(send(), nullptr);
  EXPECT_EQ(ack(3 * kMss, 3 * kMss).acked.wqes, 0u);
  EXPECT_EQ(send()->payload_bytes, kMss);
  EXPECT_EQ(sender.grantable(), 2 * kMss);
  EXPECT_EQ(ack(4 * kMss, 3 * kMss / 2).acked.wqes, 1u);
  EXPECT_EQ(sender.grantable(), 4 * kMss);
  sender.grant(4 * kMss);
  queue(1, 4 * kMss);
  EXPECT_EQ(send()->payload_bytes, 3 * kMss / 2);
  EXPECT_EQ(send(), nullptr);
  ack(11 * kMss / 2, 3 * kMss / 2 - 1);  // less than half: it must wait for the timer
  EXPECT_EQ(sender.fit_to_window(*resources), 0u);
  EXPECT_EQ(send(), nullptr);
}

TEST_F(SenderTest, OfASmallerOneWhenTheTimerRunsOut) {
  enter_rdma();
  sender.grant(kMss);
  queue(1);
  send_all();
  ack(kMss, 100);
  EXPECT_EQ(sender.grantable(), 100u);
  EXPECT_EQ(sender.timeout(*resources), 100u);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kProbe);
  EXPECT_EQ(sender.grantable(), kMss);
  sender.grant(kMss);
  queue(1);
  EXPECT_EQ(cuts, 1u);
  EXPECT_EQ(send()->payload_bytes, 100u);
  EXPECT_EQ(send(), nullptr);
  ack(kMss + 100, 100);
  EXPECT_EQ(sender.fit_to_window(*resources), 0u);
  EXPECT_EQ(send(), nullptr);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kPiece);
  EXPECT_EQ(sender.fit_to_window(*resources), 1u);
  EXPECT_EQ(send()->payload_bytes, 100u);
  ack(kMss + 200, kWindow);
  EXPECT_EQ(send()->payload_bytes, kMss - 200u);
}

// A MULPDU of 128 octets although the peer takes less, and a congestion window of one segment.
TEST_F(SenderTest, ACongestionWindowBelowAnFpduCountsAsOne) {
  agreed.emss = 64;
  config.initial_window = 1;
  enter_rdma();
  EXPECT_EQ(sender.congestion_window(), 64u);
  EXPECT_EQ(sender.grantable(), kSmallestMulpduFpdu);
}

TEST_F(SenderTest, AnIdlePeerIsAskedAndGivenUp) {
  config.keepalive_us = 30;
  enter_rdma();
  EXPECT_EQ(sender.timeout(*resources), 30u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kKeepalive);
  EXPECT_TRUE(ack(0).restart_timer);  // it answers
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kKeepalive);
  EXPECT_EQ(sender.on_timeout(*resources), Sender::Expiry::kGaveUp);
  sender.finish();
  EXPECT_EQ(sender.timeout(*resources), kNever);
}

TEST_F(SenderTest, AnIdleFlowBeginsAgainWithTheInitialWindow) {
  enter_rdma();
  sender.grant(4 * kMss);
  queue(4);
  send_all();
  ack(4 * kMss);
  EXPECT_EQ(sender.grantable(), 5 * kMss);
  now = 1000;
  queue(1);
  send();
  EXPECT_TRUE(departure.idle_restart);
  EXPECT_EQ(sender.grantable(), 4 * kMss);
}

TEST_F(SenderTest, ASegmentGoesAgainInACopyWhileSomebodyReadsTheFirst) {
  enter_rdma();
  queue(1);
  const BufferRef frame = send()->buf;
  frame.get()->bytes()[kFrameHeadroom] = 77;
  sender.on_timeout(*resources);
  const QueuedSegment* again = send();
  EXPECT_NE(again->buf.get(), frame.get());
  EXPECT_EQ(again->buf->bytes()[again->payload_at], 77);
  const Buffer* copy = again->buf.get();
  sender.on_timeout(*resources);
  EXPECT_EQ(send()->buf.get(), copy);  // nothing else holds this copy
}

TEST_F(SenderTest, ANarrowerPathCutsWhatIsInFlightAndWhatComes) {
  enter_rdma();
  queue(1);
  send_all();
  RxFeedback report;
  report.path_mtu = 640;
  report.seq = kMss;  // not in flight
  EXPECT_FALSE(sender.on_path_mtu(*resources, report, cuts));
  report.seq = 0;
  EXPECT_TRUE(sender.on_path_mtu(*resources, report, cuts));
  EXPECT_EQ(cuts, 1u);
  EXPECT_EQ(sender.mss(), 600u);
  EXPECT_EQ(sender.largest_fpdu(), kMss);
  EXPECT_EQ(send()->payload_bytes, 600u);
  EXPECT_EQ(departure.resend, Resend::kPathMtu);
  queue(1);
  EXPECT_EQ(cuts, 1u);
}

TEST_F(SenderTest, AStreamIsCutIntoSegmentsOfWhichTheLastIsPushed) {
  establish();
  const std::vector<std::uint8_t> data(2 * kMss + 1, 5);
  sender.queue_stream(*resources, data.data(), static_cast<std::uint32_t>(data.size()));
  EXPECT_EQ(send()->flags, TcpHeader::kAck);
  send();
  const QueuedSegment* last = send();
  EXPECT_EQ(last->payload_bytes, 1u);
  EXPECT_EQ(last->flags, TcpHeader::kAck | TcpHeader::kPsh);
  sender.queue_fin(*resources);
  EXPECT_EQ(send()->flags, TcpHeader::kFin | TcpHeader::kAck);
  EXPECT_TRUE(ack(2 * kMss + 2).acked.fin);
}

}  // namespace
}  // namespace rnic::tcp
