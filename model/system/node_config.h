// All settings of a node: its chip's and its host's.
#pragma once

#include "model/host/driver/context.h"
#include "model/host/root_complex.h"
#include "model/rnic/rnic_config.h"

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

}  // namespace rnic
