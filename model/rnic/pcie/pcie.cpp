#include "model/rnic/pcie/pcie.h"

namespace rnic::pcie {
namespace {

// Deep enough for one TLP a cycle.
LinkConfig pipeline(unsigned cycles) { return {cycles + 2, cycles, 1}; }

}  // namespace

Pcie::Pcie(sc_core::sc_module_name nm, ClockDomain& clk, const PcieConfig& config, const Clients& clients)
    : sc_module(nm),
      to_mmio_("pcie.to_mmio", clk, pipeline(config.rx_cycles)),
      to_dma_read_("pcie.to_dma_read", clk, pipeline(config.rx_cycles)),
      dma_writes_("pcie.dma_writes", clk, pipeline(config.tx_cycles)),
      messages_("pcie.messages", clk, pipeline(config.tx_cycles)),
      mmio_completions_("pcie.mmio_completions", clk, pipeline(config.tx_cycles)),
      dma_reads_("pcie.dma_reads", clk, pipeline(config.tx_cycles)),
      regs(clk),
      endpoint("endpoint", clk, config.link),
      mmio("mmio", clk, config.link.bar0_address, regs),
      dma_read("dma_read", clk, clients.readers, config.dma_read, config.link),
      dma_write("dma_write", clk, clients.writers, config.link),
      msix("msix", clk, regs) {
  endpoint.mmio(to_mmio_);
  mmio.requests(to_mmio_);
  mmio.completions(mmio_completions_);
  endpoint.mmio_completions(mmio_completions_);

  dma_read.tlps(dma_reads_);
  endpoint.dma_reads(dma_reads_);
  endpoint.read_completions(to_dma_read_);
  dma_read.completions(to_dma_read_);

  dma_write.tlps(dma_writes_);
  endpoint.dma_writes(dma_writes_);
  msix.messages(messages_);
  endpoint.messages(messages_);
}

}  // namespace rnic::pcie
