// The three shapes of a stage that moves one beat per cycle and runs ahead: it collects them, passes them on, or emits
// those of a message (clock_domain.md). Each use is an extern template, which its source file instantiates: otherwise
// files that are compiled with less optimization have these loops, too, and the linker takes theirs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/common/burst.h"

namespace rnic {

// An input whose beats before a message's last one are taken as they come, whatever else the stage does. The stage
// takes the last one itself, when it can. `Port` is the class of the port: its on_run(first, beats) sees each run.
template <class T, class Port>
class Collects : public PopPort<T>, private TakesAhead<T> {
 public:
  Collects(Stage& owner, const char* name) : PopPort<T>(owner, name) { this->ahead(*this); }
  void reset() { next_ = 0; }

  // When the next beat can be taken.
  Cycle beat_at() const { return std::max((*this)->front_at(), next_); }
  // Beats until that cycle, up to a message's last one.
  void collect(Cycle until) {
    Link<T>& in = **this;
    for (Cycle at; (at = beat_at()) <= until && !in.front().last;) {
      const unsigned beats = until - at < in.front_run() ? static_cast<unsigned>(until - at + 1) : in.front_run();
      static_cast<Port*>(this)->on_run(in.front(), beats);
      in.drop_at(at, beats);
      next_ = at + beats;
    }
  }
  // The last beat of a message, in the present cycle.
  T take_last() {
    next_ = this->owner().clock().now() + 1;
    return (*this)->pop();
  }

 private:
  void take_ahead() final { collect(this->owner().horizon()); }
  Acceptance accepts(const T&, Cycle at) final { return {Acceptance::kAll, std::max(next_, at)}; }

  Cycle next_ = 0;
};

// One that only counts on the last beat.
template <class T>
class CollectsAll final : public Collects<T, CollectsAll<T>> {
 public:
  using Collects<T, CollectsAll<T>>::Collects;
  void on_run(const T&, unsigned) {}
};

// A stage with one input and one output that takes a beat in every cycle in which it can and passes it on:
// Derived::on(beat) for each, in order. Of a run only the first beat is shown; the others are like it. forget() is the
// rest of reset().
template <class T, class Derived>
class Passes : public Stage, private TakesAhead<T> {
 public:
  PopPort<T> in{*this, "in"};
  PushPort<T> out{*this, "out"};

  Wake tick() override {
    Burst to(*out);
    Cycle at;
    while ((at = std::max({in->front_at(), to.credit_at(), next_})) <= horizon()) {
      const unsigned beats = to.room(in->front(), at, in->front_run(), horizon());
      static_cast<Derived*>(this)->on(in->front());
      to.push(in->front(), at, beats);
      in->drop_at(at, beats);
      next_ = at + beats;
    }
    to.finish();
    return Wake::at_cycle(at);
  }
  void reset() final {
    next_ = 0;
    static_cast<Derived*>(this)->forget();
  }

 protected:
  Passes(sc_core::sc_module_name name, ClockDomain& clk) : Stage(name, clk) { in.ahead(*this); }
  ~Passes() override = default;

 private:
  void take_ahead() final { tick(); }
  Acceptance accepts(const T& first, Cycle at) final {
    const Cycle from = std::max(next_, at);
    return {out->room(first, from), from};
  }

  Cycle next_ = 0;
};

// A message on its way out. The unit of its size is that of T::size(): words or octets.
template <class T>
class Emission final {
 public:
  bool done() const { return left_ == 0; }
  std::uint32_t left() const { return left_; }
  // The beat that leaves next; its size, `first` and `last` are not set yet.
  const T& next() const { return next_; }
  void start(const T& message, std::uint32_t size) {
    next_ = message;
    next_.first = true;
    left_ = size;
  }
  // As many beats as can leave until the horizon, none before `free_from`, which then is the cycle after the last one.
  // on_last(beat) completes the message's last beat.
  template <class F>
  void push(Burst<T>& to, std::uint32_t beat_size, Cycle& free_from, Cycle horizon, F on_last) {
    for (Cycle at; left_ != 0 && (at = std::max(to.credit_at(), free_from)) <= horizon;) {
      next_.size() = static_cast<std::uint8_t>(std::min(beat_size, left_));
      next_.last = left_ <= beat_size;
      if (next_.last) on_last(next_);
      const unsigned beats = next_.last ? 1 : to.room(next_, at, (left_ - 1) / beat_size, horizon);
      to.push(next_, at, beats);
      left_ -= beats * next_.size();
      next_.advance(beats);
      free_from = at + beats;
    }
  }
  // The same for a stage that sends nothing else on this link.
  void push(Link<T>& link, std::uint32_t beat_size, Cycle& free_from, Cycle horizon) {
    Burst to(link);
    push(to, beat_size, free_from, horizon, [](T&) {});
    to.finish();
  }

 private:
  T next_;
  std::uint32_t left_ = 0;
};

}  // namespace rnic
