// The device's end of the PCIe link: sorts what arrives, and sends one TLP per cycle to the wire.
#pragma once

#include <string>

#include "model/common/link.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/pcie_port.h"

namespace rnic::pcie {

// Completions for DMA reads do not wait after register accesses that the chip cannot take yet: they have a receive
// buffer of their own, and the chip may need them before it can take more.
class PcieEndpoint final : public Stage {
 public:
  PciePort port;
  PopPort<Tlp> dma_writes{*this, "dma_writes"}, messages{*this, "messages"};  // posted: in order of age
  PopPort<Tlp> mmio_completions{*this, "mmio_completions"};
  PopPort<Tlp> dma_reads{*this, "dma_reads"};
  PushPort<Tlp> mmio{*this, "mmio"};                          // requests to BAR0 and to configuration space
  PushPort<Tlp> read_completions{*this, "read_completions"};  // answers to dma_reads

  PcieEndpoint(sc_core::sc_module_name nm, ClockDomain& clk, const PcieLinkConfig& link, ConfigSpace& config)
      : Stage(nm, clk), port(*this, link, PcieSide::kDevice), config_(config) {}
  Wake tick() override;
  void reset() override {}  // what is on the link, or on its way to it, is still sent
  std::string waiting_for() const override { return port.waits_for_credit() ? "credits of the host" : ""; }
  void describe(const Description& d) override;

 private:
  bool receive(FlowClass c, PushPort<Tlp>& to);
  bool receive_request();
  void transmit();

  ConfigSpace& config_;
};

}  // namespace rnic::pcie
