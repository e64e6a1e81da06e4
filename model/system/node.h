// One machine: host, PCIe and chip, each side with its clock.
#pragma once

#include <memory>
#include <string>

#include "model/env/host/driver/context.h"
#include "model/env/host/root_complex.h"
#include "model/rnic/rnic.h"

namespace rnic {

struct HostConfig {
  std::uint64_t clock_period_ps = 1000;
  host::HostMemoryConfig memory;
  host::RootComplexConfig root_complex;
  host::HostCpuConfig cpu;
  host::DriverConfig driver;
  template <class V>
  static void fields(V& v) {
    v("clock_period_ps", &HostConfig::clock_period_ps, "clock of the root complex and of the processor",
      in_range(100, 1'000'000), unit("ps"));
    v.group("memory", &HostConfig::memory);
    v.group("root_complex", &HostConfig::root_complex);
    v.group("cpu", &HostConfig::cpu);
    v.group("driver", &HostConfig::driver);
  }
};

struct NodeConfig {
  RnicConfig rnic;
  HostConfig host;
  template <class V>
  static void fields(V& v) {
    v.group("rnic", &NodeConfig::rnic);
    v.group("host", &NodeConfig::host);
  }
};

class Node final : public sc_core::sc_module {
 public:
  Node(sc_core::sc_module_name nm, const NodeConfig& config, const StationConfig& station);

  // The chip's and the host's clock may run ahead of the kernel by the shortest latency of anything that enters them.
  void set_lookahead(std::uint64_t wire_delay_ns);
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
