// CONTROL.RESET during traffic with all twins: in lock-step at one end, in place of the stages at the other.
#include "rtl-stubs/verilated/verilated_twins.h"
#include "testbench/system/reset_bench.h"

namespace rnic::test {
namespace {

class ResetWithTwins : public ResetTest {
 protected:
  using Twins = std::vector<TwinSource::Handle>;
  static inline const rtl::VerilatedTwins kSource;
  Twins beside = make_twins(a.chip, twin_names("all", kSource), kSource, TwinMode::kLockstep);
  Twins instead = make_twins(b.chip, twin_names("all", kSource), kSource, TwinMode::kReplace);
  bool gives_buffers_back() const override { return false; }
};

TEST_F(ResetWithTwins, AmidTraffic) {
  play(500 * kUs, 500 * kUs);
  const std::uint64_t fresh = play_to_the_end(), fresh_with_error = play_to_the_end(true);
  play_amid(100);
  EXPECT_EQ(play_to_the_end(true), fresh_with_error);
  EXPECT_EQ(play_to_the_end(), fresh);
  expect_silence();
  for (const TwinSource::Handle& twin : beside) EXPECT_EQ(twin->fault(), "");
}

}  // namespace
}  // namespace rnic::test
