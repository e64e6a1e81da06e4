// One timer per number, exact to the cycle, in constant time. Postponing or stopping one costs a store; one that is off
// costs nothing. See timer_wheel.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/common/cycle.h"

namespace rnic {

// Timers expire in the order of their cycles, those of one cycle in the order of their numbers. `now` never decreases.
class TimerWheel {
 public:
  explicit TimerWheel(std::size_t timers);

  // Starts or restarts it; kNever: as stop().
  void start(std::uint32_t number, Cycle at) {
    Timer& t = timers_[number];
    t.deadline = at;
    if (at < t.looked_at) move(number);
  }
  // stop() leaves its place to the next start(), so next() may still name its cycle; cancel() takes it out.
  void stop(std::uint32_t number) { timers_[number].deadline = kNever; }
  void cancel(std::uint32_t number);
  // One that was taken counts as running until it is started or stopped again: what it calls for is still to be done.
  void hold(std::uint32_t number) { timers_[number].deadline = kHeld; }
  bool held(std::uint32_t number) const { return timers_[number].deadline == kHeld; }
  void clear();
  bool running(std::uint32_t number) const { return timers_[number].deadline != kNever; }
  std::size_t running() const;
  std::size_t size() const { return timers_.size(); }

  // Whether one has expired; take() is the first of those, which is off now.
  bool due(Cycle now) {
    if (next_ <= now) return find_due(now);
    time_ = now;
    return false;
  }
  std::uint32_t take();
  // When to ask again, at the latest when the first one expires; kNever if no timer runs.
  Cycle next() const { return next_; }

 private:
  // Wheels of slots, each of as many cycles as the wheel before has in all. A timer is in the first wheel that reaches
  // its deadline, and is looked at when its slot begins.
  static constexpr unsigned kWheels = 4, kFirstSlots = 256, kSlots = 64, kWords = kFirstSlots / 64 + kWheels - 1;
  static constexpr Cycle kHeld = kNever - 1;
  static constexpr std::uint32_t kOut = 0xffffffffu, kDue = 0xfffffffeu, kHead = 0x80000000u;

  struct Timer {
    Cycle deadline = kNever;
    Cycle looked_at = kNever;     // when its slot begins, if it is in one
    std::uint32_t next = kOut;    // in the slot
    std::uint32_t before = kOut;  // the one before, or kHead and the slot; kDue
  };
  struct Due {
    Cycle deadline;
    std::uint32_t number;
    bool operator<(const Due& o) const { return deadline != o.deadline ? deadline < o.deadline : number < o.number; }
  };
  // `shift`: how many cycles a slot has, as a power of two.
  static constexpr unsigned shift(unsigned wheel) { return wheel == 0 ? 0 : 8 + 6 * (wheel - 1); }
  void move(std::uint32_t number);
  void enter(std::uint32_t number);
  void put(std::uint32_t number, unsigned slot, Cycle begins);
  void leave(std::uint32_t number);
  void add_due(std::uint32_t number);
  bool find_due(Cycle now);
  void turn();
  void empty(unsigned slot);
  Cycle earliest() const;
  Cycle earliest_of_first() const;

  std::vector<Timer> timers_;
  Cycle time_ = 0;        // all slots up to here have been emptied
  Cycle next_ = kNever;   // the first timer that has expired, or the slot that begins first
  std::vector<Due> due_;  // in order, from `taken_` on; those that were restarted meanwhile count no more
  std::size_t taken_ = 0;
  std::array<std::uint64_t, kWords> occupied_{};  // a bit for each slot
  std::array<std::uint32_t, kWords * 64> slots_;  // the first timer of each
};

}  // namespace rnic
