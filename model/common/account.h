// How the cycles of an exhaustible resource were spent: slots, tags, credits, a processor. See
// model/system/accounting.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/common/check.h"
#include "model/common/cycle.h"

namespace rnic {

// How many are taken, and whether someone waits for one. Both hold from a cycle to the next change, and are weighted by
// its length. Every cycle is of one kind: blocked while someone waits, busy while some are taken, empty while none is.
class Account final {
 public:
  // 0: the number is unknown.
  explicit Account(unsigned capacity) : capacity_(capacity) {
    while ((capacity_ >> shift_) > kBins) ++shift_;
    last_bin_ = capacity_ == 0 ? kBins : bin_of(capacity_);
    cycles_at_.resize(last_bin_ + 1);
  }

  // From cycle `at` on. Changes come in cycle order; the last change of a cycle counts.
  void set(Cycle at, unsigned taken, bool waits) {
    if (taken == taken_ && waits == waits_) return;
    settle(at);
    taken_ = taken;
    waits_ = waits;
  }
  // One is taken from one cycle until before another, which may be ahead of the clock.
  void occupy(Cycle from, Cycle until) {
    settle(from);
    taken_ = until > from ? 1 : 0;
    until_ = until;
  }

  // In that many past cycles one more was taken than was known then. Only the sum reflects it.
  void add_taken(Cycle cycles) { totals_.taken += cycles; }

  struct Totals {
    std::uint64_t cycles = 0, busy = 0, blocked = 0, empty = 0;
    std::uint64_t taken = 0;  // sum over the cycles of the number taken
    Totals operator-(const Totals& o) const {
      return {cycles - o.cycles, busy - o.busy, blocked - o.blocked, empty - o.empty, taken - o.taken};
    }
    Totals& operator+=(const Totals& o) {
      cycles += o.cycles, busy += o.busy, blocked += o.blocked, empty += o.empty, taken += o.taken;
      return *this;
    }
  };
  // All cycles before `at`. No later change may precede it.
  const Totals& totals(Cycle at) {
    settle(at);
    totals_.cycles = last_;
    return totals_;
  }
  // The number of cycles in each bin of occupancy: none taken in bin 0, then bin_width() values per bin. More than the
  // capacity counts as all of it.
  const std::vector<std::uint64_t>& cycles_at() const { return cycles_at_; }
  unsigned bin_width() const { return 1u << shift_; }
  unsigned capacity() const { return capacity_; }
  unsigned taken() const { return taken_; }

 private:
  static constexpr unsigned kBins = 64;
  std::size_t bin_of(unsigned taken) const { return (std::uint64_t{taken} + (1u << shift_) - 1) >> shift_; }
  void settle(Cycle at) {
    if (until_ <= at) {
      add(until_);
      taken_ = 0;
      until_ = kNever;
    }
    add(at);
  }
  void add(Cycle at) {
    RNIC_CHECK(at >= last_);
    const Cycle cycles = at - last_;
    last_ = at;
    (waits_ ? totals_.blocked : taken_ != 0 ? totals_.busy : totals_.empty) += cycles;
    totals_.taken += cycles * taken_;
    cycles_at_[std::min(bin_of(taken_), last_bin_)] += cycles;
  }

  const unsigned capacity_;
  unsigned shift_ = 0;
  std::size_t last_bin_ = 0;
  unsigned taken_ = 0;
  bool waits_ = false;
  Cycle last_ = 0, until_ = kNever;
  Totals totals_;
  std::vector<std::uint64_t> cycles_at_;
};

}  // namespace rnic
