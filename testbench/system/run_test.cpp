// How a run ends: a world that does nothing tells the driver what it is to make of it.
#include "model/system/run.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/external/wire_end.h"

namespace rnic::test {
namespace {

constexpr std::uint64_t kUs = 1'000'000;

SystemConfig short_limits() {
  SystemConfig c;
  c.sim.max_time_us = 1000;
  c.sim.watchdog_us = 300;
  return c;
}

RunOptions no_outputs() {
  RunOptions options;
  options.out_dir.clear();
  return options;
}

class IdleWorld final : public World {
 public:
  IdleWorld() : World(short_limits()) {
    const StationConfig address{wire::MacAddress{{2, 0, 0, 0, 0, 1}}, wire::Ipv4Address{0x0a000001}, {}};
    Node& node = *add_station("a", "nobody", config(), address).node;
    CableFaults& faults = lay_cable();
    faults.attach(cable(), 0, node.chip.mac_tx.ethernet, node.chip.mac_rx);
    faults.attach(cable(), 1, nobody_.transmitter, nobody_.receiver());
  }
  std::uint64_t done_us = ~std::uint64_t{0} / kUs, fails_us = done_us, gone_us = done_us, linger_us = 0;
  std::uint64_t moves_until_us = done_us;
  Stall on_silence = Stall::kHung;
  unsigned silences = 0;

  bool done() const override { return reached(done_us); }
  bool lingers() const override { return !reached(done_us + linger_us); }
  bool failed() const override { return reached(fails_us); }
  bool peer_gone() const override { return reached(gone_us); }
  bool working() const override { return !done(); }
  std::uint64_t progress() const override { return std::min(kernel_time_ps() / kUs, moves_until_us); }
  Stall stall(std::uint64_t idle_ps, bool) override {
    if (idle_ps < 300 * kUs) return Stall::kWait;
    ++silences;
    return on_silence;
  }
  std::string table() const override { return ""; }
  std::vector<std::string> errors() const override { return {}; }
  std::string waiting_for() const override { return ""; }
  nlohmann::ordered_json about() const override { return {}; }
  void add_results(nlohmann::ordered_json&) const override {}

 private:
  external::WireEnd nobody_{"nobody", [](ByteSpan) {}};
  static bool reached(std::uint64_t us) { return kernel_time_ps() >= us * kUs; }
};

RunEnd end_of(IdleWorld& world, RunOptions options = no_outputs()) { return Run(world, options).drive(); }

TEST(Run, EndsWhenTheWorkIsDone) {
  IdleWorld world;
  world.done_us = 120;
  EXPECT_EQ(end_of(world), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 150 * kUs);  // a whole slice
}

TEST(Run, LingersWhenTheWorldDoes) {
  IdleWorld world;
  world.done_us = 120;
  world.linger_us = 300;
  EXPECT_EQ(end_of(world), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 450 * kUs);
}

TEST(Run, AFailureComesBeforeAllElse) {
  IdleWorld world;
  world.done_us = world.fails_us = world.gone_us = 120;
  EXPECT_EQ(end_of(world), RunEnd::kFailed);
}

TEST(Run, APeerMayLeaveBehindTheWork) {
  IdleWorld world;
  world.gone_us = 120;
  world.done_us = 110;
  world.linger_us = 500;
  EXPECT_EQ(end_of(world), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 150 * kUs);
}

TEST(Run, APeerThatLeavesBeforeItIsTold) {
  IdleWorld world;
  world.gone_us = 120;
  EXPECT_EQ(end_of(world), RunEnd::kPeerGone);
}

TEST(Run, SilenceIsFatalUnlessTheWorldResolvesIt) {
  IdleWorld world;
  world.moves_until_us = 100;
  EXPECT_EQ(end_of(world), RunEnd::kHung);
  EXPECT_EQ(kernel_time_ps(), 400 * kUs);
  EXPECT_EQ(world.silences, 1u);
}

TEST(Run, ASilenceThatIsResolvedBeginsAnew) {
  IdleWorld world;
  world.moves_until_us = 100;
  world.on_silence = World::Stall::kResolved;
  EXPECT_EQ(end_of(world), RunEnd::kTimeLimit);
  EXPECT_EQ(kernel_time_ps(), 1000 * kUs);
  EXPECT_EQ(world.silences, 3u);  // at 400, 700 and 1000 us
}

TEST(Run, WhoeverWantsToStopIsHeardWithinAStep) {
  IdleWorld world;
  RunOptions options = no_outputs();
  options.stop_requested = [] { return kernel_time_ps() >= 77 * kUs; };
  EXPECT_EQ(end_of(world, options), RunEnd::kInterrupted);
  EXPECT_EQ(kernel_time_ps(), 77 * kUs);
}

TEST(Run, WorkThatIsDoneIsNotInterrupted) {
  IdleWorld world;
  world.done_us = 70;
  world.linger_us = 500;
  RunOptions options = no_outputs();
  options.stop_requested = [] { return kernel_time_ps() >= 77 * kUs; };
  EXPECT_EQ(end_of(world, options), RunEnd::kDone);
}

}  // namespace
}  // namespace rnic::test
