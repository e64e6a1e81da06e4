#include "model/rnic/pcie/pcie.h"

namespace rnic::pcie {

Pcie::Pcie(sc_core::sc_module_name nm, ClockDomain& clk, const PcieConfig& config, const Clients& clients)
    : sc_module(nm),
      net_(
          get_parent_object() == nullptr ? basename() : std::string(get_parent_object()->basename()) + "." + basename(),
          clk),
      regs(clk),
      config_space(clk, config.link),
      endpoint("endpoint", clk, config.link, config_space),
      mmio("mmio", clk, config_space, regs),
      dma_read("dma_read", clk, clients.readers, config.dma_read, config.link, config_space),
      dma_write("dma_write", clk, clients.writers, config.link, config_space),
      msix("msix", clk, config_space, regs) {
  const LinkConfig receive = LinkConfig::pipeline(config.rx_cycles), send = LinkConfig::pipeline(config.tx_cycles);
  net_.connect(endpoint.mmio, mmio.requests, "to_mmio", receive);
  net_.connect(endpoint.read_completions, dma_read.completions, "to_dma_read", receive);
  net_.connect(mmio.completions, endpoint.mmio_completions, "mmio_completions", send);
  net_.connect(dma_read.tlps, endpoint.dma_reads, "dma_reads", send);
  net_.connect(dma_write.tlps, endpoint.dma_writes, "dma_writes", send);
  net_.connect(msix.messages, endpoint.messages, "messages", send);
  config_space.on_reset([this](ConfigSpace::Reset kind) { reset(kind); });
}

// With the link, what lies between the stages is lost. A function level reset leaves it alone, as CONTROL.RESET does:
// it is sent, and answered to nobody.
void Pcie::reset(ConfigSpace::Reset kind) {
  if (kind == ConfigSpace::Reset::kLink) {
    net_.reset();
    dma_read.lose_tags();
  }
  regs.reset();
}

}  // namespace rnic::pcie
