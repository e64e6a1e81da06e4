// State between stages that is not a beat on a link: written in one cycle, visible from the next one on.
#pragma once

#include <algorithm>
#include <vector>

#include "model/common/stage.h"

namespace rnic {

// State that is written in one cycle and visible in the next, as a register is (see Registered<T>).
class Committed {
 public:
  virtual void commit() = 0;

 protected:
  ~Committed() = default;
};

// Stages that wait for Committed state: each is called in the cycle in which the next change is visible.
class Waiters {
 public:
  void add(Stage& stage) {
    if (std::find(stages_.begin(), stages_.end(), &stage) == stages_.end()) stages_.push_back(&stage);
  }
  // At the end of the cycle of a change. A stage that still waits adds itself again.
  void wake() {
    for (Stage* stage : stages_) stage->wake(stage->clock().now() + 1);
    stages_.clear();
  }

 private:
  std::vector<Stage*> stages_;
};

// A configuration or context register: set() is visible from the next cycle on, in any order of calls.
template <class T>
class Registered final : public Committed {
 public:
  explicit Registered(ClockDomain& clk, T initial = {}) : clk_(clk), value_(initial), next_(initial) {}
  const T& get() const { return value_; }
  void set(const T& v) {
    next_ = v;
    clk_.commit_later(*this);
  }
  void commit() override { value_ = next_; }

 private:
  ClockDomain& clk_;
  T value_, next_;
};

}  // namespace rnic
