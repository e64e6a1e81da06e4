// What tcp_tx does when a router has no way for packets as long as ours (RFC 1191).
#include <algorithm>
#include <cstring>

#include "model/rnic/tx/tcp_tx.h"

namespace rnic {

using tcp::kNil;
using tcp::RxFeedback;
using wire::seq_lt;

// Counts only if it quotes an octet in flight, which nobody off the path can guess (RFC 5927 section 7.2). What was too
// long goes again in pieces, at once: it is no sign of congestion (RFC 1191 section 6.5).
void TcpTx::on_path_mtu(FlowId flow, const RxFeedback& fb) {
  Flow& f = flows_[flow.v];
  const bool in_flight = !seq_lt(fb.seq, f.snd_una) && seq_lt(fb.seq, f.snd_nxt);
  const std::uint32_t headers =
      wire::Ipv4Header::kBytes + wire::TcpHeader::kBytes + (f.timestamps ? wire::TcpOptions::kTimestampsSpace : 0u);
  const std::uint32_t mss = std::max<std::uint32_t>(fb.path_mtu, config_.path_mtu_min) - headers;
  if (!in_flight || mss >= f.mss) {
    ++counters_.path_mtu_ignored;
    return;
  }
  ++counters_.path_mtu_changes;
  f.mss = static_cast<std::uint16_t>(mss);
  f.congestion.mss = mss;
  for (std::uint32_t slot = f.queue.head(); slot != kNil; slot = segments_[slot].next) {
    if (segments_[slot].payload_bytes <= mss) continue;
    if (seq_lt(segments_[slot].seq, f.snd_nxt)) f.queue.mark_dropped(segments_, slot);
    cut(f, slot);
  }
  report(flow, tcp::TxReport::Kind::kEmss);
  f.timing = false;
  f.resend_now = f.queue.lost() != 0;
  resume(flow);
}

// Headers stand in front of a payload, so each piece but the first needs a buffer of its own.
void TcpTx::cut(Flow& f, std::uint32_t slot) {
  while (segments_[slot].payload_bytes > f.mss) {
    const Segment& s = segments_[slot];
    BufferRef rest = pool_.take(s.buf->request());
    std::memcpy(rest->bytes() + kFrameHeadroom, s.buf->bytes() + s.payload_at + f.mss, s.payload_bytes - f.mss);
    slot = f.queue.split(segments_, slot, f.mss, std::move(rest), kFrameHeadroom);
    ++counters_.cuts;
  }
}

}  // namespace rnic
