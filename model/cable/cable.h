// A cable with the faults of its settings, as a medium with ports 0 and 1. See link.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cable/cable_faults.h"
#include "model/cable/ethernet_link.h"
#include "model/world/medium.h"

namespace rnic {

class Cable final : public Medium, public CableTap {
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
  // Is told what happens to frames beside that. Before the simulation.
  void tap(CableTap& tap) { taps_.push_back(&tap); }
  // From its faults, and from what stands before its ends.
  void happened(const CableEvent& event) override {
    for (CableTap* tap : taps_) tap->happened(event);
  }

 private:
  const std::uint64_t delay_ps_;
  EthernetLink link_;
  CableFaults faults_;
  std::vector<CableTap*> taps_;
};

}  // namespace rnic
