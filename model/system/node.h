// One machine: host, PCIe and chip, each side with its clock.
#pragma once

#include <memory>
#include <string>

#include "model/host/driver/context.h"
#include "model/host/root_complex.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/rnic.h"
#include "model/system/node_config.h"
#include "model/world/device.h"

namespace rnic {

class Node final : public sc_core::sc_module, public Device {
 public:
  Node(sc_core::sc_module_name nm, const NodeConfig& config, const LinkAddress& station);
  ~Node() override;

  void describe(const Description& d) override;
  std::vector<EthernetPort> ports() override { return {{chip.mac_tx.ethernet, chip.mac_rx}}; }
  std::vector<Timed*> clocks() override { return {&core_clk, &host_clk}; }
  // The chip's and the host's clock may run ahead of the kernel by the shortest latency of anything that enters them.
  void set_lookahead(unsigned port, std::uint64_t ps) override;
  void shuffle(std::uint64_t seed);
  void set_run_ahead(bool on) { core_clk.set_run_ahead(on); }

 private:
  const NodeConfig config_;

 public:
  ClockDomain core_clk, host_clk;
  host::HostMemory memory;
  Rnic chip;
  host::RootComplex root_complex;
  host::HostCpu cpu;
  host::Context context;
};

}  // namespace rnic
