#include "model/system/node.h"

#include <algorithm>

#include "model/common/description.h"
#include "model/rnic/llp/link_address.h"

namespace rnic {

Node::Node(sc_core::sc_module_name nm, const NodeConfig& config, const LinkAddress& station)
    : sc_module(nm),
      config_(config),
      core_clk("core_clk", {config.rnic.clock_period_ps, 1}),
      host_clk("host_clk", {config.host.clock_period_ps, 1}),
      memory(config.host.memory),
      chip(("rnic_" + std::string(basename())).c_str(), core_clk, config.rnic, station),
      root_complex("root_complex", host_clk, config.host.root_complex, config.rnic.pcie.link, memory),
      cpu("cpu", host_clk, config.host.cpu, root_complex),
      context(cpu, memory, host::RootComplex::kMsiAddress, config.host.driver) {
  root_complex.port.out.bind(chip.pcie.endpoint.port.in);
  chip.pcie.endpoint.port.out.bind(root_complex.port.in);
  root_complex.attach(context);
}

Node::~Node() = default;

namespace {

// One direction of the link, by the port that sends in it.
void describe_traffic(const Description& d, const pcie::PciePort& port) {
  d.counters(port.counters());
  const Description by_purpose = d.part("by_purpose");
  for (unsigned i = 0; i < pcie::kPurposes; ++i) {
    by_purpose.part(pcie::kPurposeNames[i]).counters(port.counters(static_cast<pcie::Purpose>(i)));
  }
}

}  // namespace

void Node::describe(const Description& d) {
  chip.describe(d.part("rnic"));
  describe_traffic(d.part("pcie.device_to_host"), chip.pcie.endpoint.port);
  describe_traffic(d.part("pcie.host_to_device"), root_complex.port);
  for (Stage* stage : host_clk.stages()) stage->describe(d.of(*stage));
  context.describe(d.part("driver"));
  core_clk.describe(d.part("core_clk"));
  host_clk.describe(d.part("host_clk"));
}

void Node::set_lookahead(unsigned, std::uint64_t wire_ps) {
  const std::uint64_t pcie_ps = root_complex.lookahead_ps();
  const std::uint64_t core_ps = std::min(pcie_ps, wire_ps);
  core_clk.set_lookahead(std::max<Cycle>(1, core_ps / core_clk.period_ps()));
  host_clk.set_lookahead(std::max<Cycle>(1, pcie_ps / host_clk.period_ps()));
}

void Node::shuffle(std::uint64_t seed) {
  core_clk.shuffle(seed);
  host_clk.shuffle(seed + 1);
}

}  // namespace rnic
