// A cable with the faults of its settings, as a medium with ports 0 and 1. See link.md.
#pragma once

#include <cstdint>

#include "model/cable/cable_faults.h"
#include "model/cable/ethernet_link.h"
#include "model/world/medium.h"

namespace rnic {

class Cable final : public Medium {
 public:
  // `run_seed` is for a link without its own seed. ConfigError for an invalid setting.
  Cable(sc_core::sc_module_name nm, const EthernetLinkConfig& config, std::uint64_t run_seed);

  unsigned ports() const override { return 2; }
  void join(unsigned port, EthernetPort device) override { faults_.attach(link_, port, device.out, device.in); }
  std::uint64_t lookahead_ps(unsigned from, unsigned to) const override;
  // Describes the fault counters and both directions.
  void describe(const Description& d) override;

  const CableFaults& faults() const { return faults_; }
  void tap(FrameTap& tap) { link_.tap(tap); }

 private:
  const std::uint64_t delay_ps_;
  EthernetLink link_;
  CableFaults faults_;
};

}  // namespace rnic
