// The coupling of simulated time to wall time, which is a number here.
#include "model/external/free_running.h"

#include <deque>

#include <gmock/gmock.h>

#include "testbench/unit/external/wire_bench.h"

namespace rnic::external {
namespace {

using test::Bytes;
using test::now_ps;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t kUs = 1'000'000, kMs = 1000 * kUs, kAhead = kMs;
constexpr int kDescriptor = 7;

struct World {
  std::uint64_t wall_ps = 5'000 * kMs;                   // any time, when the run begins
  std::uint64_t look_ps = 0;                             // wall time per look at the clock: the slowness of simulation
  std::deque<std::pair<std::uint64_t, Bytes>> arriving;  // by wall time
  bool gone = false;
  struct Wait {
    std::uint64_t simulated_ps, wall_ps, asked_ps;
    int descriptor;
  };
  std::vector<Wait> waits;
  test::Timed delivered;
  bool refuse = false;
};

// As on a real machine, a sleep takes at least 50 us, unless there is a frame.
class FakeClock final : public WallClock {
 public:
  explicit FakeClock(World& w) : world_(w) {}
  std::uint64_t now_ps() override { return world_.wall_ps += world_.look_ps; }
  void wait(int descriptor, std::uint64_t ps) override {
    world_.waits.push_back({test::now_ps(), world_.wall_ps, ps, descriptor});
    std::uint64_t until = world_.wall_ps + std::max(ps, 50 * kUs);
    if (descriptor >= 0 && !world_.arriving.empty()) until = std::min(until, world_.arriving.front().first);
    world_.wall_ps = std::max(world_.wall_ps, until);
  }

 private:
  World& world_;
};

class FakePort final : public FramePort {
 public:
  explicit FakePort(World& w) : world_(w) {}
  int descriptor() const override { return kDescriptor; }
  bool receive(std::vector<std::uint8_t>& frame) override {
    if (world_.arriving.empty() || world_.arriving.front().first > world_.wall_ps) return false;
    frame = world_.arriving.front().second;
    world_.arriving.pop_front();
    return true;
  }
  bool send(ByteSpan frame) override {
    if (!world_.refuse) world_.delivered.emplace_back(test::now_ps(), Bytes(frame.begin(), frame.end()));
    return !world_.refuse;
  }
  bool peer_gone() const override { return world_.gone; }

 private:
  World& world_;
};

class FreeRunningTest : public testing::Test {
 protected:
  FreeRunningTest() {
    bench.peer = &peer;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void advance(std::uint64_t until_ps) { peer.advance(until_ps, bench.wire); }
  World world;
  const std::uint64_t begin = world.wall_ps;
  FreeRunning peer{std::make_unique<FakePort>(world), std::make_unique<FakeClock>(world), kAhead};
  test::WireBench bench{"bench"};
};

TEST_F(FreeRunningTest, RunsAheadSoFarAndThenWithTheWall) {
  advance(kAhead);
  EXPECT_THAT(world.waits, IsEmpty());
  EXPECT_EQ(now_ps(), kAhead);
  advance(3 * kMs);
  EXPECT_EQ(now_ps(), 3 * kMs);
  ASSERT_EQ(world.waits.size(), 40u) << "2 ms, 50 us at a time";
  for (std::size_t i = 0; i < world.waits.size(); ++i) {
    const World::Wait& w = world.waits[i];
    EXPECT_EQ(w.simulated_ps, kAhead + i * 50 * kUs);
    EXPECT_EQ(w.wall_ps, begin + i * 50 * kUs);
    EXPECT_EQ(w.asked_ps, 1000u) << "the next nanosecond";
    EXPECT_EQ(w.descriptor, kDescriptor);
  }
}

TEST_F(FreeRunningTest, TheBeginIsThatOfTheFirstStep) {
  world.wall_ps += 9 * kMs;  // time spent on getting ready
  advance(kAhead + kUs);
  ASSERT_EQ(world.waits.size(), 1u);
  EXPECT_EQ(world.waits[0].simulated_ps, kAhead);
}

TEST_F(FreeRunningTest, ASlowSimulationNeverWaits) {
  world.look_ps = 300 * kUs;  // at most 100 us are simulated meanwhile
  advance(5 * kMs);
  EXPECT_THAT(world.waits, IsEmpty());
  EXPECT_EQ(now_ps(), 5 * kMs);
  EXPECT_GE(world.wall_ps - begin, 15 * kMs);
}

TEST_F(FreeRunningTest, AFrameEndsAWaitAndIsOnTheWireAtOnce) {
  world.arriving = {{begin, {1}}, {begin + 620 * kUs, {2}}, {begin + 620 * kUs, {3}}};
  advance(3 * kMs);
  // At 600 us of wall time simulated time is at 1.6 ms, and waits.
  EXPECT_THAT(bench.seen, ElementsAre(Pair(0, Bytes{1}), Pair(1600 * kUs, Bytes{2}), Pair(1600 * kUs, Bytes{3})));
  EXPECT_EQ(world.waits[12].wall_ps, begin + 600 * kUs);
  EXPECT_EQ(world.waits[13].wall_ps, begin + 620 * kUs);
  EXPECT_EQ(world.waits[13].simulated_ps, 1620 * kUs);
}

TEST_F(FreeRunningTest, APeerThatHasLeftWakesNobody) {
  world.gone = true;
  advance(2 * kMs);
  ASSERT_EQ(world.waits.size(), 20u);
  for (const World::Wait& w : world.waits) EXPECT_EQ(w.descriptor, -1);
  EXPECT_TRUE(peer.gone());
}

TEST_F(FreeRunningTest, FramesReachThePeerAtWholeNanosecondsOrAreLost) {
  bench.send({4, 5}, 2'345'678);
  advance(10 * kUs);
  EXPECT_THAT(world.delivered, ElementsAre(Pair(2'346'000, Bytes{4, 5})));
  EXPECT_EQ(peer.lost(), 0u);
  world.refuse = true;
  bench.send({6}, 20 * kUs);
  advance(30 * kUs);
  EXPECT_EQ(peer.lost(), 1u);
}

// More frames than the simulation can take in: time still continues to its end.
TEST_F(FreeRunningTest, APeerThatNeverEndsDoesNotStopTime) {
  for (int i = 0; i < 20'000; ++i) world.arriving.emplace_back(begin, Bytes(64));
  world.look_ps = kUs;
  advance(10 * kUs);
  EXPECT_GE(now_ps(), 10 * kUs);
  EXPECT_FALSE(world.arriving.empty());
}

}  // namespace
}  // namespace rnic::external
