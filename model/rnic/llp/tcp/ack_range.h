// The acknowledgements that a segment may carry (RFC 9293 section 3.10.7.4, fifth; RFC 5961 section 5): of data that
// was sent, and not older than the largest window that the peer ever had.
#pragma once

#include <cstdint>

#include "model/wire/tcp.h"

namespace rnic::tcp {

class AckRange {
 public:
  void open(std::uint32_t snd_una, std::uint32_t window) {
    snd_una_ = snd_una;
    max_window_ = window;
  }
  bool holds(std::uint32_t ack, std::uint32_t snd_nxt) const {
    return !wire::seq_lt(ack, snd_una_ - max_window_) && !wire::seq_gt(ack, snd_nxt);
  }
  // It acknowledges the SYN, as it must in SYN-RECEIVED.
  bool is_new(std::uint32_t ack, std::uint32_t snd_nxt) const {
    return wire::seq_gt(ack, snd_una_) && !wire::seq_gt(ack, snd_nxt);
  }
  // An acceptable one arrived, with a window of that many octets.
  void note(std::uint32_t ack, std::uint32_t window) {
    snd_una_ = wire::seq_max(snd_una_, ack);
    if (window > max_window_) max_window_ = window;
  }

  static constexpr const char* kMessage = "ack_range";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("snd_una", 32, m.snd_una_);
    v("max_window", 32, m.max_window_);
  }

 private:
  std::uint32_t snd_una_ = 0;
  std::uint32_t max_window_ = 0;  // MAX.SND.WND
};

}  // namespace rnic::tcp
