#include "model/rnic/pcie/pcie.h"

namespace rnic::pcie {

Pcie::Pcie(sc_core::sc_module_name nm, ClockDomain& clk, const PcieConfig& config, const Clients& clients)
    : sc_module(nm),
      net_(
          get_parent_object() == nullptr ? basename() : std::string(get_parent_object()->basename()) + "." + basename(),
          clk),
      regs(clk),
      endpoint("endpoint", clk, config.link),
      mmio("mmio", clk, config.link.bar0_address, regs),
      dma_read("dma_read", clk, clients.readers, config.dma_read, config.link),
      dma_write("dma_write", clk, clients.writers, config.link),
      msix("msix", clk, regs) {
  const LinkConfig receive = LinkConfig::pipeline(config.rx_cycles), send = LinkConfig::pipeline(config.tx_cycles);
  net_.connect(endpoint.mmio, mmio.requests, "to_mmio", receive);
  net_.connect(endpoint.read_completions, dma_read.completions, "to_dma_read", receive);
  net_.connect(mmio.completions, endpoint.mmio_completions, "mmio_completions", send);
  net_.connect(dma_read.tlps, endpoint.dma_reads, "dma_reads", send);
  net_.connect(dma_write.tlps, endpoint.dma_writes, "dma_writes", send);
  net_.connect(msix.messages, endpoint.messages, "messages", send);
}

}  // namespace rnic::pcie
