#include "model/common/clock_group.h"

#include <algorithm>
#include <utility>

#include "model/common/cycle.h"
#include "model/common/kernel_time.h"
#include "model/common/timed.h"

namespace rnic {

ClockGroup::ClockGroup(sc_core::sc_module_name name) : sc_module(name), notified_ps_(kNever), event_("next") {
  SC_HAS_PROCESS(ClockGroup);
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

void ClockGroup::add(Timed& clock) {
  clock.join(*this);
  clocks_.push_back(&clock);
  if (clock.armed_ps() != kNever) arm(clock.armed_ps());
}

void ClockGroup::run_until(std::uint64_t ps) {
  until_ps_ = ps;
  sc_core::sc_start(sc_core::sc_time::from_value(ps - kernel_time_ps()));
  until_ps_ = 0;
}

Timed* ClockGroup::earliest() const {
  Timed* found = nullptr;
  std::uint64_t found_ps = kNever;
  for (Timed* clock : clocks_) {
    if (const std::uint64_t ps = clock->armed_ps(); ps < found_ps) found = clock, found_ps = ps;
  }
  return found;
}

void ClockGroup::arm(std::uint64_t at_ps) {
  if (running_ || at_ps >= notified_ps_) return;
  notified_ps_ = at_ps;
  const std::uint64_t now_ps = kernel_time_ps();
  event_.cancel();
  // A zero delay still goes through the kernel, so that everything else at this instant comes first.
  event_.notify(sc_core::sc_time::from_value(at_ps > now_ps ? at_ps - now_ps : 0));
}

// A clock whose time is still to come may be called if nothing else happens before.
void ClockGroup::run() {
  const std::uint64_t now_ps = kernel_time_ps();
  running_ = true;
  notified_ps_ = kNever;
  bool by_kernel = true;
  Timed* clock;
  while ((clock = earliest()) != nullptr) {
    const std::uint64_t at_ps = clock->armed_ps();
    if (at_ps > now_ps) {
      if (at_ps >= until_ps_ || at_ps - now_ps >= sc_core::sc_time_to_pending_activity().value()) break;
    }
    clock->activate(std::max(at_ps, now_ps), std::exchange(by_kernel, false));
  }
  running_ = false;
  if (clock != nullptr) arm(clock->armed_ps());
}

}  // namespace rnic
