#include "model/cable/cable.h"

#include "model/common/description.h"
#include "model/common/kernel_time.h"

namespace rnic {

Cable::Cable(sc_core::sc_module_name nm, const EthernetLinkConfig& config, std::uint64_t run_seed)
    : delay_ps_(config.delay_ns * 1000), link_(nm, config), faults_(config, run_seed) {
  faults_.tell(*this, delay_ps_);
}

// Faults only add to the delay.
std::uint64_t Cable::lookahead_ps(unsigned from, unsigned to) const { return from == to ? kNever : delay_ps_; }

void Cable::describe(const Description& d) {
  constexpr const char* kNames[] = {"link.forward", "link.reverse"};
  for (unsigned from = 0; from < 2; ++from) {
    const FaultCounters* const counters = faults_.counters(from);
    if (counters != nullptr) d.part(kNames[from]).counters(*counters);
    std::function<double()> busy_ps;
    if (faults_.rate_busy_ps(from, 0)) {
      busy_ps = [this, from] { return static_cast<double>(*faults_.rate_busy_ps(from, kernel_time_ps())); };
    }
    d.way({from, 1 - from, counters != nullptr ? &counters->queue_drops : nullptr, std::move(busy_ps)});
  }
}

}  // namespace rnic
