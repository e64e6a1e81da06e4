// rtl/link.sv in many shapes beside model/common/link.h: credit, validity and beat are equal in every cycle.
#include "model/common/link.h"

#include <deque>
#include <memory>

#include "model/common/prng.h"
#include "rtl-stubs/verilated/coverage.h"
#include "testbench/cosim/cosim.h"

#include "Vlinks.h"

namespace rnic::test {
namespace {

constexpr unsigned kLinks = 48;     // links.sv has them in the same order
constexpr unsigned kRegisters = 2;  // in the pipeline before a link whose own latency is 0
constexpr Cycle kCycles = 20'000;
constexpr Cycle kPhaseCycles = 500;  // traffic changes then

// A link of the model, and the contents of the pipeline before its twin.
struct Pair {
  explicit Pair(unsigned i, ClockDomain& clk)
      : way(i / 4 % 4 == 0 ? kRegisters : 0),
        link("link " + std::to_string(i), clk, {1 + i % 4, way + i / 4 % 4, 1 + i / 16}) {}
  const unsigned way;
  Link<std::uint8_t> link;
  std::deque<std::pair<Cycle, std::uint8_t>> launched;
};

class Comparison final : public Stage {
 public:
  Comparison(sc_core::sc_module_name name, ClockDomain& clk, Prng rng) : Stage(name, clk), rng_(rng) {
    for (unsigned i = 0; i < kLinks; ++i) pairs_.push_back(std::make_unique<Pair>(i, clk));
    edge();
    links_.rst_ni = 1;
    wake(0);
  }
  ~Comparison() override {
    links_.final();
    rtl::save_coverage(context_);
  }

  Wake tick() override {
    links_.in_launch_i = links_.in_valid_i = links_.out_ready_i = 0;
    for (unsigned i = 0; i < kLinks; ++i) produce(i);
    links_.eval();
    for (unsigned i = 0; i < kLinks && !testing::Test::HasFailure(); ++i) consume(i);
    edge();
    return now() < kCycles && !testing::Test::HasFailure() ? Wake::next_cycle() : Wake::on_traffic();
  }
  std::uint64_t beats() const { return beats_; }

 private:
  static std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }
  // In percent: from full rate to almost nothing, different for the two ends.
  bool produces() { return rng_.below(100) < 10 + 45 * (now() / kPhaseCycles % 3); }
  bool consumes() { return rng_.below(100) < 10 + 45 * (now() / kPhaseCycles / 3 % 3); }

  void produce(unsigned i) {
    Pair& pair = *pairs_[i];
    pushes_[i] = pair.link.can_push() && produces();
    if (pushes_[i]) {
      links_.in_launch_i |= bit(i);
      pair.launched.emplace_back(now() + pair.way, static_cast<std::uint8_t>(rng_.next()));
    }
    if (pair.launched.empty() || pair.launched.front().first != now()) return;
    links_.in_valid_i |= bit(i);
    links_.in_i[i / 4] &= ~(0xffu << 8 * (i % 4));
    links_.in_i[i / 4] |= std::uint32_t{pair.launched.front().second} << 8 * (i % 4);
    pair.launched.pop_front();
  }
  // Compares both sides, up to the edge.
  void consume(unsigned i) {
    Pair& pair = *pairs_[i];
    SCOPED_TRACE(pair.link.name() + " in cycle " + std::to_string(now()));
    ASSERT_EQ(pair.link.can_push(), (links_.in_ready_o & bit(i)) != 0);
    const bool offered = pair.link.can_pop();
    ASSERT_EQ(offered, (links_.out_valid_o & bit(i)) != 0);
    if (offered) {
      ASSERT_EQ(pair.link.front(), links_.out_o[i / 4] >> 8 * (i % 4) & 0xff);
    }
    if (consumes()) links_.out_ready_i |= bit(i);
    if (offered && (links_.out_ready_i & bit(i)) != 0) {
      pair.link.pop();
      ++beats_;
    }
    if (pushes_[i]) pair.link.push(latest(i));
  }
  std::uint8_t latest(unsigned i) const {
    const Pair& pair = *pairs_[i];
    return pair.way != 0 ? pair.launched.back().second : static_cast<std::uint8_t>(links_.in_i[i / 4] >> 8 * (i % 4));
  }
  void edge() {
    links_.clk_i = 0;
    links_.eval();
    links_.clk_i = 1;
    links_.eval();
  }

  Prng rng_;
  VerilatedContext context_;
  Vlinks links_{&context_, ""};
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::array<bool, kLinks> pushes_{};
  std::uint64_t beats_ = 0;
};

using LinksCosim = StageTest;
TEST_F(LinksCosim, AgreeInEveryBeatAndEveryCycle) {
  Comparison comparison("comparison", clk, seeded(20260110));
  run_until_idle();
  EXPECT_GT(comparison.beats(), kCycles * kLinks / 10);
}

}  // namespace
}  // namespace rnic::test
