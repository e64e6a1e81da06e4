// Protection against wrapped sequence numbers (RFC 7323 section 5), for a connection that agreed on timestamps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

// Seconds. After that time without a segment the peer's clock may be half a turn ahead, and the last timestamp is no
// longer valid (section 5.5): 24 days, if it ticks once per millisecond.
struct PawsTime {
  static constexpr std::uint32_t kLongestLife = 24 * 24 * 60 * 60;
  // For a clock with this tick.
  static std::uint32_t life_of(std::uint64_t tick_ns) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(kLongestLife, (tick_ns << 31) / 1'000'000'000));
  }
  std::uint32_t now_s = 0, life_s = kLongestLife;
};

class Paws {
 public:
  void start(std::uint32_t ts_recent, const PawsTime& time) {
    ts_recent_ = ts_recent;
    noted_s_ = time.now_s;
  }

  // A segment with this timestamp is older than the last one in order, so it is dropped.
  bool is_old(std::uint32_t value, const PawsTime& time) const {
    return wire::seq_lt(value, ts_recent_) && time.now_s - noted_s_ <= time.life_s;
  }
  // An acceptable segment arrived. One that begins after RCV.NXT does not update TS.Recent (sections 4.3 and 5.3).
  void note(std::uint32_t value, std::uint32_t seq, std::uint32_t rcv_nxt, const PawsTime& time) {
    if (!wire::seq_gt(seq, rcv_nxt)) start(value, time);
  }

  static constexpr const char* kMessage = "paws";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("ts_recent", 32, m.ts_recent_);
    v("noted_s", 32, m.noted_s_);
  }

 private:
  std::uint32_t ts_recent_ = 0;  // TS.Recent
  std::uint32_t noted_s_ = 0;    // when it arrived
};

}  // namespace rnic::tcp
