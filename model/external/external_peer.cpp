#include "model/external/external_peer.h"

#include "model/common/check.h"
#include "model/external/free_running.h"
#include "model/external/owned_time.h"

namespace rnic::external {

std::unique_ptr<ExternalPeer> open_external_peer(const ExternalConfig& config) {
  if (config.wire != WireKind::kVhostUser) {
    return std::make_unique<FreeRunning>(open_frame_port(config), steady_wall_clock(),
                                         std::uint64_t{config.max_ahead_us} * 1'000'000);
  }
  if (config.time_path.empty())
    throw ConfigError("external.time_path: with owned time the guest's clock needs a socket");
  return std::make_unique<OwnedTime>(config.path, config.time_path, config.patience_s);
}

}  // namespace rnic::external
