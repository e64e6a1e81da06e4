#include "model/env/link/cable_faults.h"

namespace rnic {

CableFaults::CableFaults(const EthernetLinkConfig& config, std::uint64_t run_seed)
    : seed_(config.seed != 0 ? config.seed : run_seed) {
  const auto make = [&](unsigned direction, const FaultConfig& faults, const char* name) {
    const std::string path = std::string("link.") + name;
    const std::uint64_t seed = mix64(seed_ ^ mix64(direction));
    if (FaultModel(faults, path, seed).harmless()) return;
    injectors_[direction] =
        std::make_unique<FaultInjector>((std::string(name) + "_faults").c_str(), faults, path, seed);
  };
  make(0, config.forward, "forward");
  make(1, config.symmetric ? config.forward : config.reverse, "reverse");
}

void CableFaults::attach(EthernetLink& cable, unsigned end, EthernetInitiator& tx, EthernetTarget& rx) {
  if (!injectors_[end]) return cable.attach(end, tx, rx);
  tx.socket.bind(injectors_[end]->in().socket);
  cable.attach(end, injectors_[end]->out, rx);
}

}  // namespace rnic
