// The receiver's half of ECN: how acknowledgements report marked packets (RFC 3168 section 6.1.3; RFC 8257 section
// 3.2).
#pragma once

#include <cstdint>

namespace rnic::tcp {

class MarkEcho {
 public:
  MarkEcho() : echo_(false), earlier_owed_(false), earlier_echo_(false) {}

  // ECN-Echo for what is acknowledged now.
  bool echo() const { return echo_; }

  // RFC 3168: from a marked packet on, in every ACK, until the peer reports that it reduced its window.
  void on_segment(bool marked, bool window_reduced) {
    if (window_reduced) echo_ = false;
    if (marked) echo_ = true;
  }

  // DCTCP: an ACK reports for all its octets whether they were marked, so no ACK spans a change of the mark. If there
  // are `unacknowledged` octets up to `rcv_nxt` before this segment, they need an ACK of their own. True if the mark
  // changed.
  bool on_segment_dctcp(bool marked, bool unacknowledged, std::uint32_t rcv_nxt) {
    if (echo_ == marked) return false;
    const bool earlier = unacknowledged && !earlier_owed_;
    if (earlier) {
      earlier_owed_ = true;
      earlier_echo_ = echo_;
      earlier_ack_ = rcv_nxt;
    }
    echo_ = marked;
    return earlier;
  }

  // The ACK of what came before the mark changed.
  struct Earlier {
    std::uint32_t ack;
    bool echo;
  };
  bool owes_earlier() const { return earlier_owed_; }
  Earlier take_earlier() {
    earlier_owed_ = false;
    return {earlier_ack_, earlier_echo_};
  }

  static constexpr const char* kMessage = "mark_echo";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("earlier_ack", 32, m.earlier_ack_);
    visit_bits(v, "echo", 1, bool{m.echo_}, m, [](auto& of, bool value) { of.echo_ = value; });
    visit_bits(v, "earlier_owed", 1, bool{m.earlier_owed_}, m, [](auto& of, bool value) { of.earlier_owed_ = value; });
    visit_bits(v, "earlier_echo", 1, bool{m.earlier_echo_}, m, [](auto& of, bool value) { of.earlier_echo_ = value; });
  }

 private:
  std::uint32_t earlier_ack_ = 0;
  bool echo_ : 1, earlier_owed_ : 1, earlier_echo_ : 1;
};

}  // namespace rnic::tcp
