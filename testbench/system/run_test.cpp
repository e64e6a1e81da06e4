// How a run ends: programs that do nothing define the states that the driver sees.
#include "model/system/run.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/common/kernel_time.h"
#include "model/external/wire_end.h"
#include "model/rnic/llp/link_address.h"

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

class IdlePrograms final : public Programs {
 public:
  explicit IdlePrograms(System& system) {
    const LinkAddress address{wire::MacAddress{{2, 0, 0, 0, 0, 1}}, wire::Ipv4Address{0x0a000001}, {}};
    Node& node = system.add_node("a", "nobody", system.config(), address);
    auto& nobody = system.world().add_device<external::WireEnd>("nobody", [](ByteSpan) {});
    Cable& cable = system.lay_cable();
    system.world().join(node, 0, cable, 0);
    system.world().join(nobody, 0, cable, 1);
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
  Stall stall(std::uint64_t idle_ps, bool, std::uint64_t) override {
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
  static bool reached(std::uint64_t us) { return kernel_time_ps() >= us * kUs; }
};

struct IdleSystem {
  System system{short_limits()};
  IdlePrograms& programs = system.start<IdlePrograms>();
  IdlePrograms* operator->() { return &programs; }
};

RunEnd end_of(IdleSystem& idle, RunOptions options = no_outputs()) { return Run(idle.system, options).drive(); }

TEST(Run, EndsWhenTheWorkIsDone) {
  IdleSystem idle;
  idle->done_us = 120;
  EXPECT_EQ(end_of(idle), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 150 * kUs);  // a whole time slice
}

TEST(Run, LingersWhenTheProgramsDo) {
  IdleSystem idle;
  idle->done_us = 120;
  idle->linger_us = 300;
  EXPECT_EQ(end_of(idle), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 450 * kUs);
}

TEST(Run, AFailureComesBeforeAllElse) {
  IdleSystem idle;
  idle->done_us = idle->fails_us = idle->gone_us = 120;
  EXPECT_EQ(end_of(idle), RunEnd::kFailed);
}

TEST(Run, APeerMayLeaveBehindTheWork) {
  IdleSystem idle;
  idle->gone_us = 120;
  idle->done_us = 110;
  idle->linger_us = 500;
  EXPECT_EQ(end_of(idle), RunEnd::kDone);
  EXPECT_EQ(kernel_time_ps(), 150 * kUs);
}

TEST(Run, APeerThatLeavesBeforeItIsTold) {
  IdleSystem idle;
  idle->gone_us = 120;
  EXPECT_EQ(end_of(idle), RunEnd::kPeerGone);
}

TEST(Run, SilenceIsFatalUnlessTheProgramsResolveIt) {
  IdleSystem idle;
  idle->moves_until_us = 100;
  EXPECT_EQ(end_of(idle), RunEnd::kHung);
  EXPECT_EQ(kernel_time_ps(), 400 * kUs);
  EXPECT_EQ(idle->silences, 1u);
}

TEST(Run, ASilenceThatIsResolvedBeginsAnew) {
  IdleSystem idle;
  idle->moves_until_us = 100;
  idle->on_silence = Programs::Stall::kResolved;
  EXPECT_EQ(end_of(idle), RunEnd::kTimeLimit);
  EXPECT_EQ(kernel_time_ps(), 1000 * kUs);
  EXPECT_EQ(idle->silences, 3u);  // at 400, 700 and 1000 us
}

TEST(Run, WhoeverWantsToStopIsHeardWithinAStep) {
  IdleSystem idle;
  RunOptions options = no_outputs();
  options.stop_requested = [] { return kernel_time_ps() >= 77 * kUs; };
  EXPECT_EQ(end_of(idle, options), RunEnd::kInterrupted);
  EXPECT_EQ(kernel_time_ps(), 77 * kUs);
}

TEST(Run, WorkThatIsDoneIsNotInterrupted) {
  IdleSystem idle;
  idle->done_us = 70;
  idle->linger_us = 500;
  RunOptions options = no_outputs();
  options.stop_requested = [] { return kernel_time_ps() >= 77 * kUs; };
  EXPECT_EQ(end_of(idle, options), RunEnd::kDone);
}

}  // namespace
}  // namespace rnic::test
