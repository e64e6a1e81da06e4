#include "model/system/programs.h"

#include <systemc>

#include "model/common/kernel_time.h"
#include "model/programs/workload/workload.h"

namespace rnic {

// Each call of a clock is a kernel event: programs outside of the nodes act at the kernel's time.
void Programs::advance(World&, std::uint64_t until_ps) {
  sc_core::sc_start(sc_core::sc_time::from_value(until_ps - kernel_time_ps()));
}

Programs::Stall Programs::stall(std::uint64_t idle_ps, bool dead, std::uint64_t watchdog_ps) {
  return dead || (watchdog_ps != 0 && idle_ps >= watchdog_ps) ? Stall::kHung : Stall::kWait;
}

std::vector<workload::WorkResult> Programs::results() const { return {}; }

}  // namespace rnic
