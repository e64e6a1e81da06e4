// Boards beside twins, where the build has their library: not under sanitizers, and not with counters of coverage.
#pragma once

namespace rnic::test {

inline constexpr bool kHasBoards = RNIC_HAS_BOARDS;
inline constexpr const char* kNoBoards = "this build has no librnic_golden";

}  // namespace rnic::test
