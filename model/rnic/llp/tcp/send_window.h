// The peer's advertised window, and the credit that the segmenter gets from it (RFC 9293 sections 3.8.4 to 3.8.6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

class SendWindow {
 public:
  // From the peer's SYN, whose number is `seq`.
  void open(std::uint32_t seq, std::uint32_t ack, std::uint32_t window) {
    take(seq, ack, window);
    largest_ = window;
  }
  // A segment with an ACK that is not old. True if its window is the known one. The window is only taken from a later
  // segment: its number shows that, or that it acknowledges more than all before. A peer that shrinks its window moves
  // the edge back (section 3.8.6).
  bool update(std::uint32_t seq, std::uint32_t ack, std::uint32_t window) {
    const bool same = window == window_;
    const bool later = wire::seq_lt(wl1_, seq) || (wl1_ == seq && wire::seq_le(wl2_, ack)) || wire::seq_lt(wl2_, ack);
    if (later) take(seq, ack, window);
    return same;
  }
  // The first octet beyond the window.
  std::uint32_t edge() const { return edge_; }
  // As last advertised.
  std::uint32_t advertised() const { return window_; }
  // Octets that may be sent from `snd_nxt` on; none if the window shrank below it.
  std::uint32_t usable(std::uint32_t snd_nxt) const { return wire::seq_gt(edge_, snd_nxt) ? edge_ - snd_nxt : 0; }
  // That much is worth a segment though more waits: half of the largest window (section 3.8.6.2.1).
  bool worth_sending(std::uint32_t octets) const { return octets != 0 && octets >= largest_ / 2; }
  bool holds(std::uint32_t snd_nxt, std::uint32_t bytes) const { return wire::seq_ge(edge_, snd_nxt + bytes); }

  // ---- Credit: octets that the segmenter may hand over, within this window and the congestion window.

  // RDMA mode begins: what is queued up to `snd_end` did not come from the segmenter.
  void start_credit(std::uint32_t snd_end) { granted_ = snd_end; }
  // What can be granted in addition, up to `limit`.
  std::uint32_t credit(std::uint32_t limit) const { return missing(wire::seq_min(edge_, limit)); }
  void grant(std::uint32_t bytes) { granted_ += bytes; }
  // What is missing up to `end`, regardless of the windows.
  std::uint32_t missing(std::uint32_t end) const { return wire::seq_gt(end, granted_) ? end - granted_ : 0; }

  static constexpr const char* kMessage = "send_window";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("edge", 32, m.edge_);
    v("window", 32, m.window_);
    v("largest", 32, m.largest_);
    v("wl1", 32, m.wl1_);
    v("wl2", 32, m.wl2_);
    v("granted", 32, m.granted_);
  }

 private:
  void take(std::uint32_t seq, std::uint32_t ack, std::uint32_t window) {
    edge_ = ack + window;
    window_ = window;
    largest_ = std::max(largest_, window);
    wl1_ = seq;
    wl2_ = ack;
  }

  std::uint32_t edge_ = 0;
  std::uint32_t window_ = 0, largest_ = 0;
  std::uint32_t wl1_ = 0, wl2_ = 0;  // SND.WL1, SND.WL2: number and ACK of the segment with the window
  std::uint32_t granted_ = 0;        // up to where the segmenter may send
};

}  // namespace rnic::tcp
