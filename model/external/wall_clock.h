// Wall time, and waits in it.
#pragma once

#include <cstdint>
#include <memory>

namespace rnic::external {

class WallClock {
 public:
  virtual ~WallClock() = default;
  // Time since a fixed moment.
  virtual std::uint64_t now_ps() = 0;
  // Waits for `ps`, or until the descriptor is readable; -1: none.
  virtual void wait(int descriptor, std::uint64_t ps) = 0;
};

// The machine's steady clock, which is never set.
std::unique_ptr<WallClock> steady_wall_clock();

}  // namespace rnic::external
