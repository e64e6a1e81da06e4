#include "model/rnic/llp/tcp/window_trace.h"

#include <algorithm>

namespace rnic::tcp {

// Credit is granted ahead, so the window is used up when no other FPDU fits behind what is queued.
WindowTrace::Bound WindowTrace::bound_of(const Sender& sender) {
  const std::uint32_t window = std::min(sender.congestion_window(), sender.peer_window());
  const bool used_up = sender.snd_end() - sender.snd_una() + sender.largest_fpdu() > window;
  if (sender.congestion_window() < sender.peer_window()) {
    return used_up ? Bound::kCongestionUsedUp : Bound::kCongestion;
  }
  return used_up ? Bound::kPeerUsedUp : Bound::kPeer;
}

// nullptr: it was not. What falls during fast recovery is what duplicate ACKs have added (RFC 6582 section 3.2).
const char* WindowTrace::why_reduced(const Known& before, const Sender& sender, bool idle) {
  if (before.bound == Bound::kUnknown) return nullptr;
  if (sender.recovering_fast() && !before.recovers_fast) return "loss";
  if (before.recovers_fast || sender.congestion_window() >= before.cwnd) {
    return sender.recovering() && !sender.recovering_fast() && sender.congestion_window() < before.cwnd ? "timeout"
                                                                                                        : nullptr;
  }
  return idle ? "idle" : sender.recovering() ? "timeout" : "congestion echo";
}

void WindowTrace::look(FlowId flow, Qpn qpn, const Sender& sender, bool idle) {
  if (!sender.rdma() || sender.finished()) return forget(flow);
  if (flow.v >= known_.size()) known_.resize(flow.v + 1);
  Known& known = known_[flow.v];
  const Known before = known;
  known = {bound_of(sender), sender.recovering_fast(), sender.congestion_window()};
  if (const char* const why = why_reduced(before, sender, idle)) {
    record(TraceKind::kReduced, flow, qpn, why, {before.cwnd, known.cwnd, sender.slow_start_threshold()});
  }
  if (known.bound == before.bound) return;
  constexpr const char* kTexts[] = {"", "peer's window", "peer's window used up", "congestion window",
                                    "congestion window used up"};
  record(TraceKind::kWindow, flow, qpn, kTexts[static_cast<std::size_t>(known.bound)],
         {sender.snd_nxt() - sender.snd_una(), known.cwnd, sender.peer_window()});
}

void WindowTrace::record(TraceKind kind, FlowId flow, Qpn qpn, const char* text,
                         std::array<std::uint32_t, 3> values) const {
  TraceEvent e;
  e.kind = kind;
  e.flow = flow;
  e.qpn = qpn.v;
  e.text = text;
  e.values = values;
  point(e);
}

}  // namespace rnic::tcp
