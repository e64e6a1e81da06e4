// The clock of the timestamp option (RFC 7323 section 5.4).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/cycle.h"

namespace rnic::tcp {

class TimestampClock {
 public:
  TimestampClock(std::uint64_t tick_ns, std::uint64_t period_ps)
      : tick_(std::max<Cycle>(1, tick_ns * 1000 / period_ps)) {}
  std::uint32_t at(Cycle now) const { return static_cast<std::uint32_t>(now / tick_); }
  // Cycles since an echoed `stamp`, accurate to a tick.
  Cycle since(std::uint32_t stamp, Cycle now) const { return Cycle{at(now) - stamp} * tick_; }

 private:
  Cycle tick_;
};

}  // namespace rnic::tcp
