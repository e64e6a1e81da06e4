// The writes in progress that an STag has allowed, so that its end can be reported when the last of them is out: from
// then on the memory is its owner's alone (RFC 5040 section 8.1.1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/registered.h"
#include "model/common/ring.h"

namespace rnic {

// Counters, visible from the next cycle on. A path's writes end in the order in which they began.
class StagWrites final : public Committed {
 public:
  enum Path : unsigned { kPlacement, kEarly, kAtomic, kOriginalValue, kPaths };
  using Counts = std::array<std::uint64_t, kPaths>;

  explicit StagWrites(ClockDomain& clk) : clk_(clk) {}
  void begin(Path p) { count(next_begun_[p]); }  // in the cycle in which the STag was found valid
  void end(Path p) { count(next_ended_[p]); }    // nothing that is pushed later can overtake it
  void wake_at_change(Stage& stage) { waiters_.add(stage); }

  Cycle now() const { return clk_.now(); }
  const Counts& begun() const { return begun_; }
  bool at_rest(Path p) const { return begun_[p] == ended_[p]; }
  // From this path on.
  bool over(const Counts& begun, Path from) const {
    for (unsigned p = from; p < kPaths; ++p) {
      if (ended_[p] < begun[p]) return false;
    }
    return true;
  }
  void reset() { begun_ = ended_ = next_begun_ = next_ended_ = {}; }
  void commit() override {
    begun_ = next_begun_;
    ended_ = next_ended_;
    waiters_.wake();
  }

 private:
  void count(std::uint64_t& counter) {
    ++counter;
    clk_.commit_later(*this);
  }

  ClockDomain& clk_;
  Counts begun_{}, ended_{}, next_begun_{}, next_ended_{};
  Waiters waiters_;
};

// For a path whose writes end in any order: StagWrites hears of an end when those that began before are over, too.
class WritesInAnyOrder {
 public:
  WritesInAnyOrder(StagWrites& writes, StagWrites::Path path) : writes_(&writes), path_(path) {}
  // `entry` numbers those in progress.
  void begin(unsigned entry) {
    if (entry >= number_.size()) number_.resize(entry + 1);
    number_[entry] = first_ + over_.size();
    over_.push(false);
    writes_->begin(path_);
  }
  void end(unsigned entry) {
    over_.at(number_[entry] - first_) = true;
    for (; !over_.empty() && over_.front() != 0; ++first_) {
      over_.drop();
      writes_->end(path_);
    }
  }
  void reset() { *this = WritesInAnyOrder(*writes_, path_); }

 private:
  StagWrites* writes_;
  StagWrites::Path path_;
  std::vector<std::uint64_t> number_;  // by entry, in the order of their begin
  Ring<char> over_;                    // from the oldest that StagWrites has not heard the end of
  std::uint64_t first_ = 0;            // that one's number
};

// Passes when all writes are out that were allowed by an STag which ended in the given cycle. A stage that asks too
// early is called when that may have changed; it also asks in the cycle after the given one.
class StagFence {
 public:
  StagFence(Stage& waiter, StagWrites& writes, Cycle ended_at, StagWrites::Path from = StagWrites::kPlacement)
      : waiter_(&waiter), writes_(&writes), ended_at_(ended_at), from_(from) {
    if (writes.now() <= ended_at) waiter.wake(ended_at + 1);
  }
  Cycle ended_at() const { return ended_at_; }
  bool passed() {
    if (writes_->now() <= ended_at_) return false;  // the STag holds to the end of that cycle
    if (!begun_) begun_ = writes_->begun();
    const bool over = writes_->over(*begun_, from_);
    if (!over) writes_->wake_at_change(*waiter_);
    return over;
  }

 private:
  Stage* waiter_;
  StagWrites* writes_;
  Cycle ended_at_;
  StagWrites::Path from_;
  std::optional<StagWrites::Counts> begun_;
};

}  // namespace rnic
