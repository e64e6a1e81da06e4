// Uses of queue pairs' numbers in time, for the traffic of boards.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/common/prng.h"

namespace rnic::test {

// As in a chip, where firmware is slow: a use ends while its messages still come, and messages of the next one do so
// when those are over.
class NumberUses {
 public:
  // What the firmware writes: the row of a new use, or that the use is over.
  struct Row {
    Cycle at;
    Qpn qpn;
    std::uint32_t epoch;
    bool valid;
  };

  NumberUses(Prng& rng, std::uint32_t numbers, Cycle until) : uses_(numbers) {
    for (std::uint32_t n = 0; n < numbers; ++n) {
      std::uint32_t epoch = 0;
      for (Cycle from = 1; from < until; from = uses_[n].back().until + rng.between(kApart, 2 * kApart)) {
        const Cycle end = from + rng.between(3 * kApart, 10 * kApart);
        rows_.push_back({from, Qpn{n}, ++epoch, true});
        rows_.push_back({end, Qpn{n}, epoch, false});
        uses_[n].push_back({from + kApart, end, end + rng.below(kApart), epoch});
      }
    }
  }
  const std::vector<Row>& rows() const { return rows_; }
  // The use of a message that is sent in this cycle; 0 if none may be.
  std::uint32_t at(Qpn qpn, Cycle cycle) const {
    const Use* const use = find(qpn, cycle);
    return use == nullptr ? 0 : use->epoch;
  }
  // Such a message may meet the end of its use.
  bool is_ending(Qpn qpn, Cycle cycle) const {
    const Use* const use = find(qpn, cycle);
    return use != nullptr && cycle + kApart > use->end;
  }

 private:
  static constexpr Cycle kApart = 150;  // more than a board's race_window, and what a message takes to its stage
  struct Use {
    Cycle from, end, until;
    std::uint32_t epoch;
  };
  const Use* find(Qpn qpn, Cycle cycle) const {
    for (const Use& use : uses_[qpn.v]) {
      if (use.from <= cycle && cycle < use.until) return &use;
    }
    return nullptr;
  }
  std::vector<Row> rows_;
  std::vector<std::vector<Use>> uses_;
};

}  // namespace rnic::test
