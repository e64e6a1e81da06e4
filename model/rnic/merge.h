// Several producers, one consumer: takes one item per cycle, round-robin over the inputs that have one.
#pragma once

#include <deque>

#include "model/common/description.h"
#include "model/common/link.h"

namespace rnic {

template <class T>
class Merge final : public Stage {
 public:
  PushPort<T> out{*this, "out"};

  Merge(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  // Adds an input, after the earlier ones in the round-robin order.
  PopPort<T>& add() { return in_.emplace_back(*this, "in"); }

  Wake tick() override {
    for (std::size_t n = 0; n < in_.size(); ++n) {
      const std::size_t i = (next_ + n) % in_.size();
      if (!in_[i]->can_pop()) continue;
      if (!out->can_push()) return Wake::on_traffic();
      out->push(in_[i]->pop());
      next_ = i + 1;
      return Wake::next_cycle();
    }
    return Wake::on_traffic();
  }
  void reset() override { next_ = 0; }
  void describe(const Description& d) override {
    d.stats().sum(
        "items", [this] { return static_cast<double>(out->pushed()); }, "messages", "passed on");
  }

 private:
  std::deque<PopPort<T>> in_;
  std::size_t next_ = 0;
};

}  // namespace rnic
