#include "model/cable/cable_faults.h"

namespace rnic {

CableFaults::CableFaults(const EthernetLinkConfig& config, std::uint64_t run_seed)
    : seed_(config.seed != 0 ? config.seed : run_seed) {
  const FaultConfig& back = config.symmetric ? config.forward : config.reverse;
  const auto make = [&](unsigned direction, const FaultConfig& faults, const char* name, bool carries_answers) {
    const std::string path = std::string("link.") + name;
    const std::uint64_t seed = mix64(seed_ ^ mix64(direction));
    if (FaultModel(faults, path, seed).harmless() && !carries_answers) return;
    injectors_[direction] =
        std::make_unique<FaultInjector>((std::string(name) + "_faults").c_str(), faults, path, seed);
  };
  make(0, config.forward, "forward", back.mtu.has_router());
  make(1, back, "reverse", config.forward.mtu.has_router());
  if (!injectors_[0] || !injectors_[1]) return;
  injectors_[0]->answer_through(*injectors_[1]);
  injectors_[1]->answer_through(*injectors_[0]);
}

void CableFaults::attach(EthernetLink& cable, unsigned end, EthernetInitiator& tx, EthernetTarget& rx) {
  if (!injectors_[end]) return cable.attach(end, tx, rx);
  tx.socket.bind(injectors_[end]->in().socket);
  cable.attach(end, injectors_[end]->out, rx);
}

}  // namespace rnic
