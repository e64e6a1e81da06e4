// The fault injectors of a cable, one for each direction that has faults.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "model/cable/ethernet_link.h"
#include "model/cable/fault_injector.h"

namespace rnic {

class CableFaults final {
 public:
  // `run_seed` is for a link without its own seed. Throws ConfigError for an invalid setting.
  CableFaults(const EthernetLinkConfig& config, std::uint64_t run_seed);

  // Like EthernetLink::attach, with that direction's injector between transmitter and cable.
  void attach(EthernetLink& cable, unsigned end, EthernetInitiator& tx, EthernetTarget& rx);

  // Is told of each fault.
  void tell(CableTap& tap, std::uint64_t propagation_ps) {
    for (unsigned direction = 0; direction < 2; ++direction) {
      if (injectors_[direction]) injectors_[direction]->tell(tap, direction, propagation_ps);
    }
  }

  std::uint64_t seed() const { return seed_; }
  bool any() const { return injectors_[0] || injectors_[1]; }
  // nullptr if the direction has no faults.
  const FaultCounters* counters(unsigned direction) const {
    return injectors_[direction] ? &injectors_[direction]->model().counters() : nullptr;
  }
  // How long the direction's bottleneck has been busy until now_ps; nullopt if it has none.
  std::optional<std::uint64_t> rate_busy_ps(unsigned direction, std::uint64_t now_ps) const {
    if (!injectors_[direction] || injectors_[direction]->model().config().rate.mbps == 0) return {};
    return injectors_[direction]->model().rate_busy_ps(now_ps);
  }

 private:
  const std::uint64_t seed_;
  std::array<std::unique_ptr<FaultInjector>, 2> injectors_;
};

}  // namespace rnic
