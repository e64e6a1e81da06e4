// The most of something that rises and falls: octets in a buffer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rnic {

// Since the begin or the last restart, when it is the level of that moment. Who reads statistics restarts them, which
// is no change of what has them.
class HighWater {
 public:
  // Call it at every change, or with the peak between two changes and the level after it.
  void level(std::uint64_t now) { level(now, now); }
  void level(std::uint64_t peak, std::uint64_t now) {
    most_ = std::max({most_, peak, now});
    now_ = now;
  }
  operator std::uint64_t() const { return most_; }
  void restart() const { most_ = now_; }

 private:
  mutable std::uint64_t most_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace rnic
