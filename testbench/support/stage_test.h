// What a test of one stage needs: a clock, a scripted source and sink on its links, and a run that must end.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "model/common/clock_domain.h"
#include "model/common/link.h"
#include "testbench/support/pattern.h"

namespace rnic::test {

// Pushes its script, one beat per cycle, as credit and pattern allow. Starts at cycle 0 unless told otherwise.
template <class T>
class Source final : public Stage {
 public:
  PushPort<T> out{*this, "out"};
  Source(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  template <class C>
  void script(const C& beats, Cycle from = 0) {
    todo_.insert(todo_.end(), beats.begin(), beats.end());
    wake(from);
  }
  void script(std::initializer_list<T> beats, Cycle from = 0) { script(std::vector<T>(beats), from); }
  void pause(Pattern p) { pattern_ = p; }
  bool done() const { return todo_.empty(); }
  const std::vector<Cycle>& cycles() const { return cycles_; }

  Wake tick() override {
    if (todo_.empty()) return Wake::on_traffic();
    if (pattern_.pauses(now())) return Wake::next_cycle();
    if (!out->can_push()) return Wake::on_traffic();
    out->push(std::move(todo_.front()));
    todo_.pop_front();
    cycles_.push_back(now());
    return todo_.empty() ? Wake::on_traffic() : Wake::next_cycle();
  }

 private:
  std::deque<T> todo_;
  std::vector<Cycle> cycles_;
  Pattern pattern_;
};

// Takes one beat per cycle unless its pattern pauses, and remembers what came when.
template <class T>
class Sink final : public Stage {
 public:
  PopPort<T> in{*this, "in"};
  Sink(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}

  void pause(Pattern p) { pattern_ = p; }
  const std::vector<T>& beats() const { return beats_; }
  const std::vector<Cycle>& cycles() const { return cycles_; }
  void clear() {
    beats_.clear();
    cycles_.clear();
  }

  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    if (!pattern_.pauses(now())) {
      beats_.push_back(in->pop());
      cycles_.push_back(now());
    }
    return Wake::next_cycle();
  }

 private:
  std::vector<T> beats_;
  std::vector<Cycle> cycles_;
  Pattern pattern_;
};

class StageTest : public testing::Test {
 protected:
  // Runs until no stage wants anything any more; a run that does not end is a failure.
  void run_until_idle(Cycle limit = 10'000'000) {
    sc_core::sc_start(sc_core::sc_time::from_value(limit * clk.period_ps()), sc_core::SC_EXIT_ON_STARVATION);
    ASSERT_FALSE(sc_core::sc_pending_activity()) << "still busy after " << limit << " cycles";
  }
  ClockDomain clk{"clk", {}};
};

}  // namespace rnic::test
