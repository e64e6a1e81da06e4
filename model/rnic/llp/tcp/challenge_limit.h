// The limit of a flow's answers to segments that may be forged (RFC 5961 section 7). Each flow has its own: a shared
// limit would reveal one flow's state through another.
#pragma once

#include <cstdint>

#include "model/common/cycle.h"

namespace rnic::tcp {

class ChallengeLimit {
 public:
  ChallengeLimit() : since_(0), sent_(0) {}
  // True if a challenge ACK may be sent: one of at most `limit` in an interval, which begins with the first of them.
  bool allow(Cycle now, Cycle interval, unsigned limit) {
    if (sent_ == 0 || now - since_ >= interval) {
      since_ = now;
      sent_ = 0;
    }
    if (sent_ == limit) return false;
    ++sent_;
    return true;
  }

  static constexpr const char* kMessage = "challenge_limit";
  template <class V, class M>
  static void fields(V& v, M& m) {
    visit_bits(v, "since", 56, Cycle{m.since_}, m, [](auto& of, Cycle value) { of.since_ = value; });
    visit_bits(v, "sent", 8, Cycle{m.sent_}, m, [](auto& of, Cycle value) { of.sent_ = value; });
  }

 private:
  Cycle since_ : 56;
  Cycle sent_ : 8;  // since then
};

}  // namespace rnic::tcp
