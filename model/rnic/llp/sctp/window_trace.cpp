#include "model/rnic/llp/sctp/window_trace.h"

namespace rnic::sctp {

// nullptr: it was not. Rules of RFC 9260: fast recovery (section 7.2.4), a timeout (7.2.3), a path that was not used
// for long (7.2.1), a smaller path MTU (7.3).
const char* WindowTrace::why_reduced(const Known& before, const DataSender& sender) {
  if (before.bound == Bound::kUnknown) return nullptr;
  if (sender.recovering() && !before.recovers) return "loss";
  if (sender.cwnd() >= before.cwnd) return nullptr;
  if (sender.timed_out()) return "timeout";
  return sender.pmdcs() < before.chunk ? "path MTU" : "idle";
}

void WindowTrace::look(const Of& of, const DataSender& sender, bool used_up) {
  if (of.stream.v >= known_.size()) known_.resize(of.stream.v + 1);
  Known& known = known_[of.stream.v];
  const Known before = known;
  const std::uint32_t peer_window = sender.advertised_window();
  const bool congestion = sender.cwnd() < peer_window;
  known.bound = congestion ? (used_up ? Bound::kCongestionUsedUp : Bound::kCongestion)
                           : (used_up ? Bound::kPeerUsedUp : Bound::kPeer);
  known.recovers = sender.recovering();
  known.cwnd = sender.cwnd();
  known.chunk = sender.pmdcs();
  if (const char* const why = why_reduced(before, sender)) {
    record(TraceKind::kReduced, of, why, {before.cwnd, known.cwnd, sender.ssthresh()});
  }
  if (known.bound == before.bound) return;
  constexpr const char* kTexts[] = {"", "a_rwnd", "a_rwnd used up", "congestion window", "congestion window used up"};
  record(TraceKind::kWindow, of, kTexts[static_cast<std::size_t>(known.bound)],
         {sender.flight(), known.cwnd, peer_window});
}

void WindowTrace::record(TraceKind kind, const Of& of, const char* text, std::array<std::uint32_t, 3> values) const {
  TraceEvent e;
  e.kind = kind;
  e.flow = of.flow;
  e.qpn = of.qpn.v;
  e.text = text;
  e.values = values;
  point(e);
}

}  // namespace rnic::sctp
