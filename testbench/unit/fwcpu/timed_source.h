// A scripted neighbour that pushes each beat in a cycle of its own.
#pragma once

#include <deque>

#include "model/common/link.h"

namespace rnic::test {

template <class T>
class TimedSource final : public Stage {
 public:
  PushPort<T> out{*this, "out"};
  TimedSource(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  // Cycles must rise. A beat whose link is full goes as soon as there is room.
  void at(Cycle cycle, T beat) {
    if (todo_.empty()) wake(cycle);
    todo_.push_back({cycle, std::move(beat)});
  }
  Wake tick() override {
    while (!todo_.empty() && todo_.front().first <= now()) {
      if (!out->can_push()) return Wake::on_traffic();
      out->push(std::move(todo_.front().second));
      todo_.pop_front();
    }
    return todo_.empty() ? Wake::on_traffic() : Wake::at_cycle(todo_.front().first);
  }

 private:
  std::deque<std::pair<Cycle, T>> todo_;
};

}  // namespace rnic::test
