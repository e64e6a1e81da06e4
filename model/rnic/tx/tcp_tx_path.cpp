// What tcp_tx does when a router has no way for packets as long as ours (RFC 1191).
#include <algorithm>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::RxFeedback;

// Counts only if it quotes an octet in flight, which nobody off the path can guess (RFC 5927 section 7.2). What was too
// long goes again in pieces, at once: it is no sign of congestion (RFC 1191 section 6.5).
void TcpTx::on_path_mtu(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  const std::uint32_t headers =
      wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes + (f.timestamps ? wire::TcpOptions::kTimestampsSpace : 0u);
  const std::uint32_t mss = std::max<std::uint32_t>(fb.path_mtu, config_.path_mtu_min) - headers;
  if (!f.loss.in_flight(fb.seq) || mss >= f.mss) {
    ++counters_.path_mtu_ignored;
    return;
  }
  ++counters_.path_mtu_changes;
  f.mss = static_cast<std::uint16_t>(mss);
  f.congestion.mss = mss;
  counters_.cuts += f.loss.fit_to(segments_, mss, pool_);
  report(flow, tcp::TxReport::Kind::kEmss);
  f.timing = false;
  resume(flow);
}

}  // namespace rnic
