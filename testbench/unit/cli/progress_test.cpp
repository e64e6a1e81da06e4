#include "model/cli/progress.h"

#include <sstream>

#include <gmock/gmock.h>

namespace rnic::cli {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  // What is printed by an update at the given wall time in milliseconds.
  std::string at(Progress& progress, int wall_ms, std::uint64_t now_ps, std::uint64_t done, std::uint64_t total) {
    wall = Time(std::chrono::milliseconds(wall_ms));
    out.str("");
    progress.update(now_ps, done, total);
    return out.str();
  }
  using Time = std::chrono::steady_clock::time_point;
  std::ostringstream out;
  Time wall{};
  Progress::WallClock clock = [this] { return wall; };
};

TEST_F(ProgressTest, PrintsOncePerSecondOfWallTime) {
  Progress progress(out, true, clock);
  EXPECT_EQ(at(progress, 999, 5, 1, 8), "");
  EXPECT_EQ(at(progress, 1000, 1'500'000, 1, 8), "\r\x1b[K1.500 us simulated, 12 % done, 1.500 us per second");
  EXPECT_EQ(at(progress, 1999, 9'000'000, 4, 8), "");
  EXPECT_EQ(at(progress, 3000, 9'500'000, 4, 0), "\r\x1b[K9.500 us simulated, 4.000 us per second");
  out.str("");
  progress.finish();
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST_F(ProgressTest, PrintsNothingWhereNobodyLooks) {
  Progress progress(out, false, clock);
  EXPECT_EQ(at(progress, 5000, 5, 1, 8), "");
  progress.finish();
  EXPECT_EQ(out.str(), "");
}

TEST(TimeText, TakesTheLargestUnitThatFits) {
  EXPECT_EQ(time_text(0), "0 ps");
  EXPECT_EQ(time_text(999), "999 ps");
  EXPECT_EQ(time_text(1000), "1.000 ns");
  EXPECT_EQ(time_text(1'234'567), "1.235 us");
  EXPECT_EQ(time_text(86'400'000'000'000'000), "86400.000 s");
}

}  // namespace
}  // namespace rnic::cli
