// The maximum of a level that rises and falls, such as octets in a buffer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rnic {

// The maximum since the beginning or the last restart, which sets it to the current level. restart() is const because a
// reader of statistics restarts them, and this does not change the owner's state.
class HighWater {
 public:
  // Call it at every change, or with the peak between two changes and the level after it.
  void level(std::uint64_t now) { level(now, now); }
  void level(std::uint64_t peak, std::uint64_t now) {
    most_ = std::max({most_, peak, now});
    now_ = now;
  }
  void rise() { most_ = std::max(most_, ++now_); }
  void fall() { --now_; }
  operator std::uint64_t() const { return most_; }
  std::uint64_t now() const { return now_; }
  void restart() const { most_ = now_; }

 private:
  mutable std::uint64_t most_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace rnic
