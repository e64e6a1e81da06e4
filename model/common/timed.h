// What a ClockGroup calls in the order of time: a clock domain; later, a switch.
#pragma once

#include <cstdint>

namespace rnic {

class ClockGroup;

class Timed {
 public:
  // When it needs its next call, in ps; kNever without one. A member that needs an earlier call than before tells its
  // group (ClockGroup::arm).
  virtual std::uint64_t armed_ps() const = 0;
  // Does everything that is due from `ps` on, and ahead of that what nothing from outside can change any more.
  // `by_kernel`: the first call of a kernel event.
  virtual void activate(std::uint64_t ps, bool by_kernel) = 0;
  // For the group: its calls replace the kernel's.
  virtual void join(ClockGroup& group) { group_ = &group; }

 protected:
  ~Timed() = default;
  // Null outside of a group.
  ClockGroup* group() const { return group_; }

 private:
  ClockGroup* group_ = nullptr;
};

}  // namespace rnic
