// The wall's time, and waiting in it.
#pragma once

#include <cstdint>
#include <memory>

namespace rnic::external {

class WallClock {
 public:
  virtual ~WallClock() = default;
  // Since a moment that is always the same.
  virtual std::uint64_t now_ps() = 0;
  // For so long, or until the descriptor is readable; -1: there is none.
  virtual void wait(int descriptor, std::uint64_t ps) = 0;
};

// The machine's, which nobody sets.
std::unique_ptr<WallClock> steady_wall_clock();

}  // namespace rnic::external
