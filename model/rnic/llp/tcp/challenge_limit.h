// The limit of a flow's answers to segments that may be forged (RFC 5961 section 7). Each flow has its own: a shared
// limit would reveal one flow's state through another.
#pragma once

#include <cstdint>

#include "model/common/cycle.h"

namespace rnic::tcp {

class ChallengeLimit {
 public:
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

 private:
  Cycle since_ = 0;
  std::uint8_t sent_ = 0;  // since then
};

}  // namespace rnic::tcp
