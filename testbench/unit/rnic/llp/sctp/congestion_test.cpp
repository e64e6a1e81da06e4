// SCTP's congestion control without a network: RFC 9260 section 7.2 in literal numbers.
#include <gtest/gtest.h>

#include "model/rnic/llp/sctp/rfc9260.h"

namespace rnic::sctp {
namespace {

constexpr std::uint32_t kPmdcs = 1468;

class Rfc9260Test : public testing::Test {
 protected:
  Rfc9260Test() { algorithm.open(state, kPmdcs, 3); }
  void ack(std::uint32_t bytes, std::uint32_t flight, bool advances = true, bool all = false) {
    llp::AckedOctets acked;
    acked.bytes = bytes;
    acked.flight = flight;
    acked.snd_una = 7;
    acked.snd_nxt = all ? 7 : 9;
    acked.advances = advances;
    algorithm.on_ack(state, acked);
  }
  void avoid_from(std::uint32_t window) {
    state.window = window;
    state.ssthresh = window - 1;
  }

  const Rfc9260 algorithm;
  llp::CongestionState state;
};

TEST_F(Rfc9260Test, FirstWindow) {
  EXPECT_EQ(state.window, 4404u);
  algorithm.open(state, 9000 - 32, 3);
  EXPECT_EQ(state.window, 17936u);
  algorithm.open(state, 576 - 32, 3);
  EXPECT_EQ(state.window, 4u * 544);
  algorithm.open(state, kPmdcs, 90);
  EXPECT_EQ(state.window, 132'120u);
}

TEST_F(Rfc9260Test, SlowStartGrowsAFullWindowByAPacketAtMost) {
  ack(1000, 4404);
  EXPECT_EQ(state.window, 5404u);
  ack(2904, 5404);
  EXPECT_EQ(state.window, 6872u);
  ack(2904, 6871);  // the window was not full
  EXPECT_EQ(state.window, 6872u);
  ack(2904, 6872, false);  // only gap blocks
  EXPECT_EQ(state.window, 6872u);
}

TEST_F(Rfc9260Test, SlowStartGoesOnAtTheThreshold) {
  state.ssthresh = 4404;
  ack(1468, 4404);
  EXPECT_EQ(state.window, 5872u);
  EXPECT_EQ(state.counted, 0u);
}

TEST_F(Rfc9260Test, AvoidanceAddsAPacketForEachFullWindow) {
  avoid_from(10'000);
  ack(4000, 10'000);
  ack(4000, 10'000, false);
  EXPECT_EQ(state.window, 10'000u);
  EXPECT_EQ(state.counted, 8000u);
  ack(4000, 10'000);
  EXPECT_EQ(state.window, 11'468u);
  EXPECT_EQ(state.counted, 2000u);
}

TEST_F(Rfc9260Test, AWindowThatIsNotFullSavesNoMoreThanItself) {
  avoid_from(10'000);
  ack(9000, 9999);
  ack(9000, 9999);
  EXPECT_EQ(state.window, 10'000u);
  EXPECT_EQ(state.counted, 10'000u);
  ack(4, 10'000);
  EXPECT_EQ(state.window, 11'468u);
  EXPECT_EQ(state.counted, 4u);
}

TEST_F(Rfc9260Test, NothingIsSavedWhenAllIsAcknowledged) {
  avoid_from(10'000);
  ack(4000, 9999, true, true);
  EXPECT_EQ(state.counted, 0u);
}

TEST_F(Rfc9260Test, LossHalvesAndTimeoutLeavesAPacket) {
  state.window = 20'000;
  state.counted = 77;
  algorithm.on_loss(state, 1);
  EXPECT_EQ(state.window, 10'000u);
  EXPECT_EQ(state.ssthresh, 10'000u);
  EXPECT_EQ(state.counted, 0u);
  state.counted = 77;
  algorithm.on_timeout(state, 1, true);
  EXPECT_EQ(state.window, 1468u);
  EXPECT_EQ(state.ssthresh, 5872u);  // four packets, not 5000
  EXPECT_EQ(state.counted, 0u);
  algorithm.on_loss(state, 1);
  EXPECT_EQ(state.window, 5872u);
}

TEST_F(Rfc9260Test, SilenceHalvesDownToFourPackets) {
  state.window = 20'000;
  algorithm.on_idle(state, 3);
  EXPECT_EQ(state.window, 10'000u);
  algorithm.on_idle(state, 3);
  EXPECT_EQ(state.window, 5872u);
  state.window = 1468;
  algorithm.on_idle(state, 3);
  EXPECT_EQ(state.window, 1468u);
}

}  // namespace
}  // namespace rnic::sctp
