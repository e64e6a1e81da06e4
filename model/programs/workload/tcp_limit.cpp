#include "model/programs/workload/tcp_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/wire/ddp_session.h"

namespace rnic::workload {

namespace {

constexpr double kCubicC = 0.4, kCubicBeta = 0.7;  // RFC 9438 section 4.1
constexpr unsigned kIpv4AndTcp = 40, kIpv4 = 20, kAroundPacket = 14 + 8 + 4 + 12;

// Octets of the receiver's window that a full packet takes.
double segment_bytes(const WireParams& wire) {
  if (wire.transport == host::Transport::kTcp) return wire.mtu - kIpv4AndTcp - wire.tcp_option_bytes;
  return static_cast<double>(wire::sctp_mulpdu(wire.mtu, kIpv4, wire.bundle_reserve) + wire::kDdpSsnBytes);
}

}  // namespace

double mean_window(const TcpPath& path) {
  if (path.loss <= 0) return std::numeric_limits<double>::infinity();
  const double aimd = std::sqrt(1.5 / path.loss);
  if (path.congestion != tcp::CongestionAlgorithm::kCubic) return aimd;
  const double rtt = static_cast<double>(path.rtt_ns) * 1e-9;
  const double c = std::pow(kCubicC * (3 + kCubicBeta) / (4 * (1 - kCubicBeta)), 0.25);
  return std::max(aimd, c * std::pow(rtt / path.loss, 0.75));
}

double tcp_share(const TcpPath& path, const WireParams& wire, unsigned flows) {
  if (path.rtt_ns == 0) return 1;
  const double offered = static_cast<double>(path.window_bytes) / segment_bytes(wire);
  const double segments = flows * std::min(mean_window(path), offered) / static_cast<double>(path.rtt_ns);  // per ns
  return std::min(1.0, segments * 8 * (wire.mtu + kAroundPacket) / wire.rate_gbps);
}

}  // namespace rnic::workload
