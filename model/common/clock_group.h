// The clocks of a simulation as one kernel process. See clock_domain.md.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

namespace rnic {

class ClockDomain;

// Calls its clocks in the order of their times. What the kernel is for, is to keep this order with everything else; so
// while it has nothing else to do, one kernel event serves many calls.
class ClockGroup final : public sc_core::sc_module {
 public:
  explicit ClockGroup(sc_core::sc_module_name name);

  // Before the simulation starts. The clock lives as long.
  void add(ClockDomain& clock);

  // Lets the kernel run until then, in ps. Between two calls the clocks are where the kernel's time is, up to their
  // lookahead. Not where a clock tells somebody of something who then acts at the kernel's time, as a replayed peer
  // does: there sc_start() has each call of a clock be a kernel event.
  void run_until(std::uint64_t ps);

 private:
  friend class ClockDomain;
  void run();
  void arm(std::uint64_t at_ps);
  ClockDomain* earliest() const;

  std::vector<ClockDomain*> clocks_;
  std::uint64_t until_ps_ = 0;  // who lets the kernel run looks at the clocks then
  std::uint64_t notified_ps_;   // when the kernel will call
  bool running_ = false;
  sc_core::sc_event event_;
};

}  // namespace rnic
