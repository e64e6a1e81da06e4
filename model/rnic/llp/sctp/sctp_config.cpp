#include "model/rnic/llp/sctp/sctp_config.h"

#include <string>

#include "model/common/check.h"
#include "model/rnic/llp/sctp/data_receiver.h"
#include "model/wire/ipv4.h"

namespace rnic {
namespace {

// The room for flow numbers beyond those of TCP.
constexpr unsigned kMostStreams = 1024;
constexpr std::uint64_t kAnyPeriodPs = 1000;

}  // namespace

void check_settings(const SctpConfig& config, unsigned ip_mtu) {
  const std::uint64_t streams = std::uint64_t{config.max_associations} * config.streams;
  if (streams > kMostStreams) {
    throw ConfigError("rnic.sctp.max_associations: " + std::to_string(config.max_associations) +
                      " associations of rnic.sctp.streams = " + std::to_string(config.streams) + " are " +
                      std::to_string(streams) + " DDP streams; there are at most " + std::to_string(kMostStreams));
  }
  (void)sctp::ReceiverSettings(config, ip_mtu, wire::Ipv4Header::kBytes, kAnyPeriodPs);
}

}  // namespace rnic
