// The chip's PCIe block: endpoint, registers, DMA engines and interrupts, bound to each other.
#pragma once

#include "model/common/netlist.h"
#include "model/rnic/pcie/dma_read.h"
#include "model/rnic/pcie/dma_write.h"
#include "model/rnic/pcie/mmio.h"
#include "model/rnic/pcie/msix.h"
#include "model/rnic/pcie/pcie_endpoint.h"

namespace rnic::pcie {

struct PcieConfig {
  PcieLinkConfig link;
  DmaReadConfig dma_read;
  unsigned rx_cycles = 4;
  unsigned tx_cycles = 4;
  template <class V>
  static void fields(V& v) {
    v.group("link", &PcieConfig::link);
    v.group("dma_read", &PcieConfig::dma_read);
    v("rx_cycles", &PcieConfig::rx_cycles, "from a TLP's arrival to the stage that serves it", in_range(1, 63),
      unit("cycles"));
    v("tx_cycles", &PcieConfig::tx_cycles, "from the stage that makes a TLP to the wire", in_range(1, 63),
      unit("cycles"));
  }
};

// Still to be bound: endpoint.port.out and .in (to the host), the doorbells of mmio, dma_read.request(i) and .done(i),
// dma_write.request(i) and .done(i), msix.vectors.
class Pcie final : public sc_core::sc_module {
 public:
  struct Clients {
    unsigned readers = 1, writers = 1;
  };

 private:
  Netlist net_;

 public:
  regs::RegBank regs;
  ConfigSpace config_space;
  PcieEndpoint endpoint;
  Mmio mmio;
  DmaRead dma_read;
  DmaWrite dma_write;
  Msix msix;

  Pcie(sc_core::sc_module_name nm, ClockDomain& clk, const PcieConfig& config, const Clients& clients);

  // TLPs between the stages: only a reset of the link touches them.
  const Netlist& net() const { return net_; }

 private:
  void reset(ConfigSpace::Reset kind);
};

}  // namespace rnic::pcie
