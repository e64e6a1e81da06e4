// Protection against wrapped sequence numbers (RFC 7323 section 5), of a connection that agreed on timestamps.
#pragma once

#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

class Paws {
 public:
  void start(std::uint32_t ts_recent) { ts_recent_ = ts_recent; }

  // A segment with this timestamp is older than the last one in order, so it is dropped.
  bool is_old(std::uint32_t value) const { return wire::seq_lt(value, ts_recent_); }
  // An acceptable segment came. One that begins behind RCV.NXT says nothing of the next (sections 4.3 and 5.3).
  void note(std::uint32_t value, std::uint32_t seq, std::uint32_t rcv_nxt) {
    if (!wire::seq_gt(seq, rcv_nxt)) ts_recent_ = value;
  }

 private:
  std::uint32_t ts_recent_ = 0;  // TS.Recent
};

}  // namespace rnic::tcp
