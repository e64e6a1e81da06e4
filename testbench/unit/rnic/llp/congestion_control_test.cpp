// The algorithms without a network: windows are checked against the formulas of RFC 9438 and RFC 8257.
#include <cmath>

#include <gtest/gtest.h>

#include "model/rnic/llp/tcp/cubic.h"
#include "model/rnic/llp/tcp/dctcp.h"

namespace rnic::tcp {
namespace {

constexpr std::uint32_t kMss = 1460;

llp::AckedOctets ack(std::uint32_t bytes, std::uint32_t flight, std::uint64_t now_ms = 0, std::uint64_t rtt_ms = 0) {
  llp::AckedOctets a;
  a.bytes = bytes;
  a.flight = flight;
  a.now_ns = now_ms * 1'000'000;
  a.srtt_ns = rtt_ms * 1'000'000;
  return a;
}

TEST(InitialWindow, FollowsRfc6928) {
  llp::CongestionState s;
  const NewReno newreno;
  newreno.open(s, 536, 10);
  EXPECT_EQ(llp::CongestionControl::cwnd(s), 5360u);
  newreno.open(s, 1460, 10);
  EXPECT_EQ(llp::CongestionControl::cwnd(s), 14600u);
  newreno.open(s, 4000, 10);
  EXPECT_EQ(llp::CongestionControl::cwnd(s), 14600u);
  newreno.open(s, 8960, 10);
  EXPECT_EQ(llp::CongestionControl::cwnd(s), 17920u);
}

TEST(NewRenoWindow, AWindowThatIsNotUsedDoesNotGrow) {
  llp::CongestionState s;
  const NewReno newreno;
  newreno.open(s, kMss, 10);
  newreno.on_ack(s, ack(kMss, 4 * kMss));
  EXPECT_EQ(s.window, 10 * kMss);
  newreno.on_ack(s, ack(kMss, 5 * kMss));
  EXPECT_EQ(s.window, 11 * kMss);
}

// RFC 5681 section 3.1: one segment per window, however many ACKs acknowledge it.
TEST(NewRenoWindow, InCongestionAvoidanceAWindowOfOctetsAddsASegment) {
  llp::CongestionState s;
  const NewReno newreno;
  newreno.open(s, kMss, 10);
  newreno.on_loss(s, 20 * kMss);
  for (int i = 1; i < 10; ++i) {
    newreno.on_ack(s, ack(kMss, 10 * kMss));
    EXPECT_EQ(s.window, 10 * kMss) << i;
  }
  newreno.on_ack(s, ack(kMss, 10 * kMss));
  EXPECT_EQ(s.window, 11 * kMss);
  newreno.on_ack(s, ack(11 * kMss, 11 * kMss));
  EXPECT_EQ(s.window, 12 * kMss);
  newreno.on_ack(s, ack(12 * kMss - 1, 12 * kMss));
  EXPECT_EQ(s.window, 12 * kMss);
  newreno.on_ack(s, ack(1, 12 * kMss));
  EXPECT_EQ(s.window, 13 * kMss);
}

TEST(NewRenoWindow, TheThresholdIsHalfOfTheFlightAndAtLeastTwoSegments) {
  llp::CongestionState s;
  const NewReno newreno;
  newreno.open(s, kMss, 10);
  newreno.on_loss(s, 8 * kMss);
  EXPECT_EQ(s.window, 4 * kMss);
  newreno.on_timeout(s, 3 * kMss, false);
  EXPECT_EQ(s.window, kMss);
  EXPECT_EQ(s.ssthresh, 2 * kMss);
  newreno.on_timeout(s, 100 * kMss, true);  // the same segment again
  EXPECT_EQ(s.ssthresh, 2 * kMss);
}

TEST(CubicWindow, CubeRootsAreExact) {
  for (std::uint64_t r : {0u, 1u, 2u, 9u, 1000u, 4641u, 2'000'000u}) {
    EXPECT_EQ(Cubic::cube_root(r * r * r), r);
    EXPECT_EQ(Cubic::cube_root(r * r * r + 1), r + (r == 0));
  }
}

// RFC 9438 equation 1: compares floating point with the integers.
TEST(CubicWindow, IsTheFunctionOfTheRfc) {
  llp::CubicState c;
  c.w_max = 1000 * kMss;
  c.k_ms = 9086;  // cube root of 300 / 0.4, in ms
  for (std::uint64_t ms = 0; ms < 30'000; ms += 777) {
    const double t = static_cast<double>(ms) / 1000 - 9.086;
    const double expected = (0.4 * t * t * t + 1000) * kMss;
    EXPECT_NEAR(static_cast<double>(Cubic::window_at(c, kMss, ms)), expected, 2 + expected * 1e-5) << ms;
  }
}

// A loss at 1000 segments leaves 0.7 of them, and K seconds later the window is back at 1000.
TEST(CubicWindow, ReturnsToTheWindowOfTheLossAfterK) {
  llp::CongestionState s;
  const Cubic cubic;
  cubic.open(s, kMss, 10);
  s.window = 1000 * kMss;
  cubic.on_loss(s, 1000 * kMss);
  EXPECT_EQ(s.window, 700 * kMss);
  const std::uint64_t rtt = 100;
  std::uint64_t reached = 0;
  for (std::uint64_t ms = 0; ms < 20'000 && reached == 0; ms += rtt) {
    for (std::uint32_t i = 0, n = s.window / kMss; i < n; ++i) cubic.on_ack(s, ack(kMss, s.window, ms, rtt));
    if (s.window >= 999 * kMss) reached = ms;
  }
  EXPECT_NEAR(static_cast<double>(reached), 9086, 2 * 9086 / 10);
}

// With the short round trips of a datacentre, NewReno sets the pace (section 4.3): 0.53 segments per round trip.
TEST(CubicWindow, IsNeverSlowerThanNewReno) {
  llp::CongestionState s;
  const Cubic cubic;
  cubic.open(s, kMss, 10);
  s.window = 100 * kMss;
  cubic.on_loss(s, 100 * kMss);
  ASSERT_EQ(s.window, 70 * kMss);
  for (int rtt = 0; rtt < 20; ++rtt) {
    for (std::uint32_t i = 0, n = s.window / kMss; i < n; ++i) cubic.on_ack(s, ack(kMss, s.window, 0, 0));
  }
  EXPECT_NEAR(static_cast<double>(s.window) / kMss, 70 + 20 * 0.529, 1);
}

TEST(CubicWindow, ASecondLossBelowTheFirstGivesWay) {
  llp::CongestionState s;
  const Cubic cubic;
  cubic.open(s, kMss, 10);
  s.window = 1000 * kMss;
  cubic.on_loss(s, s.window);
  EXPECT_EQ(s.own.cubic.w_max, 1000 * kMss);
  cubic.on_loss(s, s.window);
  EXPECT_EQ(s.own.cubic.w_max, 595 * kMss);  // 700 (1 + 0.7) / 2
}

TEST(DctcpWindow, FallsByHalfTheMarkedFraction) {
  llp::CongestionState s;
  const Dctcp dctcp;
  dctcp.open(s, kMss, 100);
  std::uint32_t una = 1000;
  const auto window_of_data = [&](bool marked) {
    for (int i = 0; i < 10; ++i) {
      una += kMss;
      llp::AckedOctets a = ack(kMss, 10 * kMss);
      a.snd_una = una;
      a.snd_nxt = una + 9 * kMss;
      a.ece = marked;
      dctcp.on_marks(s, a);
    }
  };
  EXPECT_EQ(s.own.dctcp.alpha, 1024u);
  for (int i = 0; i < 200; ++i) window_of_data(false);
  EXPECT_LT(s.own.dctcp.alpha, 16u);  // a sixteenth of less than 16 is 0
  dctcp.on_ecn(s, 100 * kMss);
  EXPECT_GT(s.window, 99 * kMss);
  for (int i = 0; i < 200; ++i) window_of_data(true);
  EXPECT_GT(s.own.dctcp.alpha, 1000u);
  s.window = 100 * kMss;
  dctcp.on_ecn(s, 100 * kMss);
  EXPECT_NEAR(static_cast<double>(s.window) / kMss, 51, 1);
  dctcp.on_loss(s, 40 * kMss);  // a loss reduces the window as usual (section 3.5)
  EXPECT_EQ(s.window, 20 * kMss);
}

}  // namespace
}  // namespace rnic::tcp
