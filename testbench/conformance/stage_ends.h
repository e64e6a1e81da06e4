// The ends of the chains of stages that `rnicsim vectors` runs.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "model/common/link.h"

namespace rnic::conformance {

// Pushes what it is given, one item per cycle.
template <class T>
class Feeder final : public Stage {
 public:
  PushPort<T> out{*this, "out"};
  using Stage::Stage;
  void feed(T item) { waiting_.push_back(std::move(item)); }
  Wake tick() override {
    if (waiting_.empty() || !out->can_push()) return Wake::on_traffic();
    out->push(std::move(waiting_.front()));
    waiting_.pop_front();
    return Wake::next_cycle();
  }

 private:
  std::deque<T> waiting_;
};

// Keeps what comes, one item per cycle.
template <class T>
class Collector final : public Stage {
 public:
  PopPort<T> in{*this, "in"};
  using Stage::Stage;
  std::vector<T> take() { return std::exchange(collected_, {}); }
  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    collected_.push_back(in->pop());
    return Wake::next_cycle();
  }

 private:
  std::vector<T> collected_;
};

// Until nothing moves any more. The kernel wraps what a stage throws.
void run_stages();

}  // namespace rnic::conformance
