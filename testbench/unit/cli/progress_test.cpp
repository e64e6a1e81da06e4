#include "model/cli/progress.h"

#include <sstream>

#include <gmock/gmock.h>

namespace rnic::cli {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  // The output of an update at the given wall time in milliseconds.
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
  EXPECT_EQ(at(progress, 1000, 1'500'000, 1, 8),
            "\r\x1b[K1.500 us simulated, 12 % done, 1.500 us per second, 7 s left");
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

TEST_F(ProgressTest, OfASweep) {
  SweepProgress progress(out, true, clock);
  const auto at = [&](int wall_ms, const SweepProgress::Points& points) {
    wall = Time(std::chrono::milliseconds(wall_ms));
    out.str("");
    progress.update(points);
    return out.str();
  };
  EXPECT_EQ(at(999, {10, 4, 5, 2, 0}), "");
  EXPECT_EQ(at(1000, {10, 4, 4, 2, 0}), "\r\x1b[K4 of 10 points (40 %), 2 running");
  EXPECT_EQ(at(2000, {10, 4, 6, 2, 1}), "\r\x1b[K6 of 10 points (60 %), 2 running, 1 failed, 4 s left")
      << "two of them in two seconds; those of an earlier sweep do not count";
  out.str("");
  progress.clear();
  EXPECT_EQ(out.str(), "\r\x1b[K");
  progress.clear();
  EXPECT_EQ(out.str(), "\r\x1b[K") << "there is no line";
  SweepProgress silent(out, false, clock);
  out.str("");
  wall = Time(std::chrono::seconds(9));
  silent.update({10, 0, 5, 2, 0});
  EXPECT_EQ(out.str(), "");
}

TEST(DurationText, HasTwoUnitsAtMost) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 05 min");
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
