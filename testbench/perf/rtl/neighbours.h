// The neighbours of a measured block: each takes or gives a message a cycle, and does little else.
#pragma once

#include <algorithm>
#include <utility>

#include "model/common/link.h"
#include "model/common/ring.h"

namespace rnic::perf {

// Sends endlessly. `next()` points at a message, or is null if there is none until go_on().
template <class T, class Next>
class Feed final : public Stage {
 public:
  PushPort<T> out{*this, "out"};
  Feed(sc_core::sc_module_name nm, ClockDomain& clk, Next next) : Stage(nm, clk), next_(std::move(next)) { wake(0); }
  Wake tick() override {
    if (!out->can_push()) return Wake::on_traffic();
    const T* const message = next_();
    if (message == nullptr) return Wake::on_traffic();
    out->push(*message);
    return Wake::next_cycle();
  }
  void go_on() { wake(now() + 1); }

 private:
  Next next_;
};
template <class T, class Next>
Feed<T, Next> feed(const char* name, ClockDomain& clk, Next next) {
  return Feed<T, Next>(name, clk, std::move(next));
}

// Takes everything: use(message).
template <class T, class Use>
class Drain final : public Stage {
 public:
  PopPort<T> in{*this, "in"};
  Drain(sc_core::sc_module_name nm, ClockDomain& clk, Use use) : Stage(nm, clk), use_(std::move(use)) {}
  Wake tick() override {
    if (!in->can_pop()) return Wake::on_traffic();
    use_(in->front());
    in->drop();
    return in->empty() ? Wake::on_traffic() : Wake::next_cycle();
  }

 private:
  Use use_;
};
template <class T, class Use>
Drain<T, Use> drain(const char* name, ClockDomain& clk, Use use) {
  return Drain<T, Use>(name, clk, std::move(use));
}
template <class T>
auto drain(const char* name, ClockDomain& clk) {
  return drain<T>(name, clk, [](const T&) {});
}

// Answers some cycles later, in order. `answer(message, its)` fills in the answer; false: there is none.
template <class In, class Out, class Answer>
class Answers final : public Stage {
 public:
  PopPort<In> in{*this, "in"};
  PushPort<Out> out{*this, "out"};
  Answers(sc_core::sc_module_name nm, ClockDomain& clk, Cycle latency, Answer answer)
      : Stage(nm, clk), latency_(latency), answer_(std::move(answer)) {}
  Wake tick() override {
    if (in->can_pop()) {
      Due due{now() + latency_, {}};
      if (answer_(in->front(), due.message)) due_.push(due);
      in->drop();
    }
    if (!due_.empty() && due_.front().at <= now() && out->can_push()) out->push(due_.pop().message);
    return due_.empty() ? Wake::on_traffic() : Wake::at_cycle(std::max(due_.front().at, now() + 1));
  }

 private:
  struct Due {
    Cycle at = 0;
    Out message;
  };
  const Cycle latency_;
  Answer answer_;
  Ring<Due> due_;
};
template <class In, class Out, class Answer>
Answers<In, Out, Answer> answers(const char* name, ClockDomain& clk, Cycle latency, Answer answer) {
  return Answers<In, Out, Answer>(name, clk, latency, std::move(answer));
}

}  // namespace rnic::perf
