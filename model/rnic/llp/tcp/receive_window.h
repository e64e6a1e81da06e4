// The receive window: what was received in order, what is advertised, and which segments, and which parts of them, are
// accepted (RFC 9293 sections 3.4, 3.8.6.2.2 and 3.10.7.4, first).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

// Without a scale a window has 16 bits (RFC 7323 section 2.2).
inline std::uint32_t largest_window(std::uint32_t bytes, bool scaling) {
  return scaling ? bytes : std::min<std::uint32_t>(bytes, 0xffff);
}

class ReceiveWindow {
 public:
  // The peer's segments have `mss` octets.
  void open(std::uint32_t rcv_nxt, std::uint32_t bytes, std::uint32_t mss) {
    rcv_nxt_ = rcv_nxt;
    edge_ = room_ = rcv_nxt + bytes;
    step_ = std::min(mss, bytes / 2);
  }
  std::uint32_t rcv_nxt() const { return rcv_nxt_; }
  // The first octet beyond the advertised window.
  std::uint32_t edge() const { return edge_; }

  // RCV.NXT =< seq < RCV.NXT + RCV.WND.
  bool holds(std::uint32_t seq) const { return !wire::seq_lt(seq, rcv_nxt_) && wire::seq_lt(seq, edge_); }

  // A segment of `length` numbers, FIN included, has one inside the window, or none and begins there. While the window
  // is closed, its ACK and window are used if it begins at RCV.NXT, but its octets are not.
  bool accepts(std::uint32_t seq, std::uint32_t length) const {
    if (wire::seq_lt(seq, rcv_nxt_)) return wire::seq_gt(seq + length, rcv_nxt_);
    return seq == rcv_nxt_ || wire::seq_lt(seq, edge_);
  }

  // What is left of a segment that passes accepts().
  struct Part {
    std::uint32_t skip = 0;   // octets that were received before
    std::uint32_t bytes = 0;  // new ones inside the window, after those
    bool fin = false;         // inside the window, too
    bool beyond = false;      // some octets, or the FIN, are beyond the window
  };
  Part part_of(std::uint32_t seq, std::uint32_t bytes, bool fin) const {
    Part part;
    const std::uint32_t end = seq + bytes;
    if (wire::seq_lt(seq, rcv_nxt_)) part.skip = rcv_nxt_ - seq;
    part.beyond = wire::seq_gt(end + fin, edge_);
    part.fin = fin && !part.beyond;
    part.bytes = (wire::seq_gt(end, edge_) ? edge_ : end) - (seq + part.skip);
    return part;
  }
  void advance(std::uint32_t octets) { rcv_nxt_ += octets; }

  // ---- For the sending half, which advertises the window

  // Octets were consumed. True if the sending half must advertise the window even if no segment arrives.
  bool give_room(std::uint32_t bytes, std::uint32_t step) {
    room_ += bytes;
    return room_ - edge_ >= step;
  }
  bool reported() const { return room_ - edge_ < step_; }
  // The edge, which moves by at least a step: silly window avoidance.
  std::uint32_t report() {
    if (!reported()) edge_ = room_;
    return edge_;
  }

  static constexpr const char* kMessage = "receive_window";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rcv_nxt", 32, m.rcv_nxt_);
    v("edge", 32, m.edge_);
    v("room", 32, m.room_);
    v("step", 14, m.step_);
  }

 private:
  std::uint32_t rcv_nxt_ = 0, edge_ = 0;
  std::uint32_t room_ = 0;  // the first octet that there is no room for
  std::uint32_t step_ = 0;
};

}  // namespace rnic::tcp
