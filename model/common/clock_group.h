// The clocks of a simulation as one kernel process. See clock_domain.md.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

namespace rnic {

class Timed;

// Calls its clocks in the order of their times. The kernel is needed only to keep this order with everything else;
// while it has nothing else to do, one kernel event serves many calls.
class ClockGroup final : public sc_core::sc_module {
 public:
  explicit ClockGroup(sc_core::sc_module_name name);

  // Before the simulation starts. The clock must outlive the group's calls.
  void add(Timed& clock);

  // Lets the kernel run until then, in ps. Between two calls the clocks are at the kernel's time, up to their
  // lookahead. Not for use where a clock notifies someone who then acts at the kernel's time, as a replayed peer does:
  // there sc_start() makes each call of a clock a kernel event.
  void run_until(std::uint64_t ps);

  // For a clock: it needs a call at that time, or now if that has passed.
  void arm(std::uint64_t at_ps);

 private:
  void run();
  Timed* earliest() const;

  std::vector<Timed*> clocks_;
  std::uint64_t until_ps_ = 0;  // the caller of run_until() looks at the clocks at this time
  std::uint64_t notified_ps_;   // when the kernel will call
  bool running_ = false;
  sc_core::sc_event event_;
};

}  // namespace rnic
