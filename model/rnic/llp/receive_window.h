// The receive window: what was received in order, what there is room for, and what of a segment is acceptable
// (RFC 9293 sections 3.4 and 3.10.7.4).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

class ReceiveWindow {
 public:
  void open(std::uint32_t rcv_nxt, std::uint32_t bytes) {
    rcv_nxt_ = rcv_nxt;
    edge_ = reported_ = rcv_nxt + bytes;
  }
  std::uint32_t rcv_nxt() const { return rcv_nxt_; }
  // The first octet that there is no room for.
  std::uint32_t edge() const { return edge_; }

  // A segment without octets of its own, or a RST.
  bool holds(std::uint32_t seq) const { return !wire::seq_lt(seq, rcv_nxt_) && !wire::seq_gt(seq, edge_); }

  // What is left of a segment with octets or a FIN.
  struct Part {
    std::uint32_t skip = 0;   // octets that were received before
    std::uint32_t bytes = 0;  // new ones that the window holds, behind them
    bool fin = false;
    bool duplicate = false;  // all of it was received before
    bool beyond = false;     // some octets are beyond the window
    bool outside = false;    // all are
  };
  Part part_of(std::uint32_t seq, std::uint32_t bytes, bool fin) const {
    Part part;
    const std::uint32_t end = seq + bytes;
    part.duplicate = wire::seq_lt(end + fin, rcv_nxt_ + 1);
    if (part.duplicate) return part;
    if (wire::seq_lt(seq, rcv_nxt_)) part.skip = rcv_nxt_ - seq;
    part.beyond = wire::seq_gt(end, edge_);
    part.outside = part.beyond && wire::seq_gt(seq, edge_);
    part.fin = fin && !part.beyond;  // it follows what does not fit
    if (!part.outside) part.bytes = (part.beyond ? edge_ : end) - (seq + part.skip);
    return part;
  }
  void advance(std::uint32_t octets) { rcv_nxt_ += octets; }

  // ---- What the sending half knows of it, which advertises it

  // Octets were taken out. True if the sending half has to hear of it even if no segment comes.
  bool give_room(std::uint32_t bytes, std::uint32_t step) {
    edge_ += bytes;
    return edge_ - reported_ >= step;
  }
  bool reported() const { return reported_ == edge_; }
  std::uint32_t report() { return reported_ = edge_; }

 private:
  std::uint32_t rcv_nxt_ = 0, edge_ = 0;
  std::uint32_t reported_ = 0;  // the edge that the sending half knows
};

}  // namespace rnic::tcp
