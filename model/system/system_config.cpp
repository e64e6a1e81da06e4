#include "model/system/system_config.h"

#include <random>

#include "model/common/prng.h"
#include "model/config/describe.h"
#include "model/config/resolve.h"

namespace rnic {

SystemConfig resolve_system(const Overlay& overlay) {
  auto config = resolve<SystemConfig>(overlay);
  check_settings(config.rnic.sctp, config.rnic.tcp.mtu);
  return config;
}
nlohmann::ordered_json dump_system(const SystemConfig& config) { return dump_fields(config); }
std::vector<FieldInfo> list_system() { return list_fields<SystemConfig>(); }

void draw_keys(SystemConfig& config, unsigned node) {
  std::random_device system;
  const auto draw = [&](std::uint64_t& seed, std::uint64_t key) {
    if (seed != 0) return;
    seed = config.sim.system_keys ? std::uint64_t{system()} << 32 | system() : mix64(config.sim.seed ^ mix64(key));
  };
  draw(config.rnic.tcp.seed, 2 * node);
  draw(config.host.driver.stag_seed, 2 * node + 1);
  constexpr std::uint64_t kSctp = 0x5c79;  // apart from the other keys of any node
  draw(config.rnic.sctp.seed, kSctp << 32 | node);
}

}  // namespace rnic
