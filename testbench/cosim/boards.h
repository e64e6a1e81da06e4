// Boards beside twins, where the build has their library: not under sanitizers, and not with counters of coverage.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/scoreboard/watched_stages.h"
#include "testbench/support/sizes.h"

namespace rnic::test {

inline constexpr bool kHasBoards = RNIC_HAS_BOARDS;
inline constexpr const char* kNoBoards = "this build has no librnic_golden";

// Their traffic.
inline const auto kBoth = testing::Values(Traffic{"random_both", at_random(1, 50), at_random(2, 50), at_random(3, 70)});

inline const scoreboard::WatchedStage& watched(const std::string& name) {
  for (const auto* theme :
       {&scoreboard::watched_streams(), &scoreboard::watched_requests(), &scoreboard::watched_placement()}) {
    const auto stage = std::find_if(theme->begin(), theme->end(), [&](const auto& s) { return s.name == name; });
    if (stage != theme->end()) return *stage;
  }
  throw std::logic_error("no board is called " + name);
}

// Judges a twin that has the traffic alone by transaction: in whatever cycles they come. The first fault ends the test.
class Judge {
 public:
  Judge(Stage& twin, const std::string& stage, const scoreboard::WatchedChip& chip)
      : board_(twin, watched(stage).name, fmt::format("{{{}}}", watched(stage).settings(twin, chip))) {
    watched(stage).ports(twin, chip, board_);
  }
  // All that was accepted has passed. `least`: transactions that have to be given.
  void expect_right(std::uint64_t least) {
    board_.finish(true);
    EXPECT_EQ(board_.fault(), "");
    EXPECT_GT(board_.given(), least);
  }

 private:
  scoreboard::StageBoard board_;
};

}  // namespace rnic::test
