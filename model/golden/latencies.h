// How many cycles a device took, from an acceptance to its outcome.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "model/common/cycle.h"

namespace rnic::golden {

class Latencies {
 public:
  void add(Cycle cycles) { ++count_, sum_ += cycles, ++of_[cycles]; }
  std::uint64_t count() const { return count_; }
  Cycle min() const { return of_.empty() ? 0 : of_.begin()->first; }
  Cycle max() const { return of_.empty() ? 0 : of_.rbegin()->first; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  // The nearest rank: the least that so many percent do not exceed.
  Cycle percentile(unsigned percent) const {
    std::uint64_t left = (count_ * percent + 99) / 100;
    for (const auto& [cycles, n] : of_) {
      if (left <= n) return cycles;
      left -= n;
    }
    return max();
  }
  const std::map<Cycle, std::uint64_t>& histogram() const { return of_; }

 private:
  std::map<Cycle, std::uint64_t> of_;
  std::uint64_t count_ = 0, sum_ = 0;
};

}  // namespace rnic::golden
