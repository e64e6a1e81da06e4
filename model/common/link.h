// A registered link between two stages of one clock: valid/ready with latency in both directions.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/beat_owner.h"
#include "model/common/credits.h"
#include "model/common/link_base.h"
#include "model/common/takes_ahead.h"

namespace rnic {

template <class T>
class Burst;

// Beats that hold a resource have a member abandon(), which releases it when they are dropped in flight.
template <class T, class = void>
inline constexpr bool kAbandoned = false;
template <class T>
inline constexpr bool kAbandoned<T, std::void_t<decltype(std::declval<T&>().abandon())>> = true;

// Messages of several beats; the first and the last are marked.
template <class T, class = void>
inline constexpr bool kOfBeats = false;
template <class T>
inline constexpr bool kOfBeats<T, std::void_t<decltype(std::declval<T>().first && std::declval<T>().last)>> = true;

// Beats that travel in runs: a run is beats of consecutive cycles, of which the link holds the first. advance(n) turns
// a beat of the run into the n-th after it. Neither the first beat of a message nor its last follows another one in a
// run.
template <class T, class = void>
inline constexpr bool kInRuns = false;
template <class T>
inline constexpr bool kInRuns<T, std::void_t<decltype(std::declval<T&>().advance(1u))>> = true;

// Nothing a neighbour does in a cycle is visible in that cycle, so the order of calls within a cycle cannot matter. One
// producer, one consumer. A slot has a beat, or a run of them, and the cycle in which it becomes visible.
template <class T>
class Link final : public LinkBase {
 public:
  [[gnu::noinline, gnu::cold]] Link(std::string name, ClockDomain& clk, const LinkConfig& config)
      : LinkBase(std::move(name), clk, config), slots_(config.depth + (kInRuns<T> ? kAcceptedRuns : 0)) {
    head_ = fill_ = tail_ = slots_.data();
  }

  // Producer's side: one beat per cycle. A refusal is remembered: the producer is called when it can push.
  bool can_push() {
    if (push_from_ <= clk_.now()) return true;
    if (push_from_ == kNever) producer_waits_ = true;
    else if (producer_ != nullptr) producer_->wake(push_from_);
    return false;
  }
  void push(const T& beat) { push_at(beat, clk_.now()); }
  void push(T&& beat) { push_at(std::move(beat), clk_.now()); }
  // push() in two steps, for a pipeline that knows the beat only when it leaves: reserve() takes the credit on entry
  // and returns the slot, which may hold the fields known so far; reserved() is the oldest one, and fill() sends its
  // beat, visible `latency` cycles from now. Observers see it as a push at that time.
  T& reserve() {
    Slot& slot = take(clk_.now());
    slot.visible = kNever;
    return slot.beat;
  }
  T& reserved() {
    RNIC_CHECK_MSG(fill_->visible == kNever, name_, ": fill without reserve");
    return fill_->beat;
  }
  void fill(unsigned latency) {
    RNIC_CHECK_MSG(fill_->visible == kNever, name_, ": fill without reserve");
    RNIC_CHECK_MSG(latency <= config_.latency, name_, ": fill later than a push");
    Slot& slot = *fill_;
    slot.visible = clk_.now() + latency;
    fill_ = next(fill_);
    ++pushed_;
    if (is_told(slot.beat)) tell_filled(&slot.beat, slot.visible - config_.latency, slot.visible);
    if (consumer_ != nullptr) consumer_->wake(slot.visible);
  }

  // Consumer's side.
  bool can_pop() const { return front_at() <= clk_.now(); }
  T& front() { return head_->beat; }
  T pop() { return pop_at(clk_.now()); }
  // What front() was: pop() without a copy.
  void drop() {
    if constexpr (!std::is_trivially_destructible_v<T>) front() = T{};
    drop_at(clk_.now());
  }
  // Whether f(beat) is true of any that has come: a comparison with each place of the link. Not of runs.
  template <class F>
  bool any(F&& f) const {
    static_assert(!kInRuns<T>);
    const Slot* slot = head_;
    for (unsigned left = used_; left != 0 && slot->visible <= clk_.now(); --left, slot = next(slot)) {
      if (f(slot->beat)) return true;
    }
    return false;
  }

  // The same for stages that run ahead (clock_domain.md): a move's cycle is a number up to which each end knows the
  // moves of the other one. kNever means not known yet; the stage is called when it is. A Burst makes many moves.
  Cycle front_at() const { return used_ == 0 ? kNever : head_->visible; }  // may have passed long ago
  // How many beats are visible from then on, at least one more in each cycle.
  unsigned front_run() const {
    if constexpr (kInRuns<T>) return head_->beats;
    else return 1;
  }
  Cycle credit_at() {
    if (push_from_ == kNever) advance_consumer();
    producer_waits_ |= push_from_ == kNever;
    return push_from_;
  }
  // How many beats, the next one being `first`, can be pushed from cycle `at` on, one per cycle. Those beyond the known
  // credits the consumer has accepted.
  unsigned room(const T& first, Cycle at) {
    const unsigned known = credits_.in_row(at);
    return kInRuns<T> ? std::max(known, accepted(first, at)) : known;
  }
  void push_at(const T& beat, Cycle at) { push_as(beat, at), wake_consumer(at, 1); }
  void push_at(T&& beat, Cycle at) { push_as(std::move(beat), at), wake_consumer(at, 1); }
  T pop_at(Cycle at) {
    RNIC_CHECK_MSG(front_at() <= at, name_, ": pop of nothing");
    T beat = std::move(head_->beat);
    drop_at(at);
    return beat;
  }
  // One beat per cycle from `at` on, all of one run.
  [[gnu::always_inline]] void drop_at(Cycle at, unsigned beats = 1) {
    RNIC_CHECK_MSG(front_at() <= at && beats <= front_run(), name_, ": pop of nothing");
    const Cycle credit = at + config_.credit_latency;
    const bool full = !head_->accepted() && credits_.empty();
    for (unsigned i = 0; observed_ && i < beats; ++i) tell_popped(at + i, full && i == 0 ? credit : kNever);
    if (head_->accepted()) {
      RNIC_CHECK_MSG(head_->taken_from == at, name_, ": an accepted beat was not taken");
    } else {
      credits_.give(credit, beats);
      if (full) push_from_ = std::max(credit, free_from_);
      if (producer_waits_ && producer_ != nullptr) producer_->wake(credit);
      producer_waits_ = producer_waits_ && producer_ == nullptr;
    }
    popped_until_ = at + beats;
    consumer_stuck_ = false;
    used_ -= beats;
    if constexpr (kInRuns<T>) {
      if (beats != head_->beats) return head_->advance(beats);
    }
    head_ = next(head_);
    if (used_ == 0) head_ = fill_ = tail_ = slots_.data();  // where they are warm
  }

  void reset() override {
    if constexpr (kAbandoned<T>) {
      for (; used_ != 0; used_ -= front_run(), head_ = next(head_)) {
        if (head_->visible != kNever) head_->beat.abandon();
      }
    }
    for (Slot& slot : slots_) slot = {};
    head_ = fill_ = tail_ = slots_.data();
    credits_.reset();
    used_ = 0;
    free_from_ = push_from_ = popped_until_ = accepted_from_ = 0;
    producer_waits_ = consumer_stuck_ = false;
    tell_emptied();
  }

  void set_producer(Stage& stage) { set_end(producer_, stage); }
  // `taker`: nullptr if the consumer does not run ahead.
  void set_consumer(Stage& stage, TakesAhead<T>* taker = nullptr) {
    set_end(consumer_, stage);
    taker_ = taker;
  }

  // From now on messages are events of this kind; called where the link is made.
  void traced_as(TraceKind kind) {
    static_assert(kHasEvent<T>, "a message on a traced link says what event it is (trace_event.h)");
    traced_ = kind;
    make_event_ = [](const void* beat, const Owners& owners, TraceEvent& event, bool& first) {
      const T& message = *static_cast<const T*>(beat);
      if constexpr (kOfBeats<T>) first = message.first;
      return event_of(message, owners, event);
    };
  }
  void detailed_as(TraceKind kind) {
    traced_as(kind);
    detailed_ = true;
  }

  MessageKind kind() const override { return kind_of<T>(); }
  bool has_owner() const override { return kHasOwner<T>; }
  RequestId owner(const void* beat, const Owners& owners) const override {
    if constexpr (kHasOwner<T>) return owner_of(*static_cast<const T*>(beat), owners);
    return {};
  }
  void show_beats(LinkTap& tap, Cycle next_cycle) const override {
    const Slot* slot = head_;
    for (unsigned n = 0; n < used_ && slot->visible != kNever; slot = next(slot)) {
      n += slot->for_each(
          [&](const T& beat, Cycle visible) { tap.filled(&beat, next_cycle, std::max(visible, next_cycle)); });
    }
  }

 private:
  friend class Burst<T>;
  struct Single {
    static constexpr unsigned beats = 1;
    static constexpr bool accepted() { return false; }
    static constexpr Cycle taken_from = kNever;
  };
  struct Run {
    unsigned beats = 1;
    Cycle taken_from = kNever;  // accepted, so their credits were given when they were pushed
    bool accepted() const { return taken_from != kNever; }
  };
  struct Slot : std::conditional_t<kInRuns<T>, Run, Single> {
    T beat{};
    Cycle visible = 0;  // kNever: reserved

    void advance(unsigned n) {
      beat.advance(n);
      visible += n;
      this->beats -= n;
      if (this->accepted()) this->taken_from += n;
    }
    template <class F>
    unsigned for_each(F f) const {
      f(beat, visible);
      if constexpr (kInRuns<T>) {
        T one = beat;
        for (unsigned i = 1; i < this->beats; ++i) one.advance(1), f(one, visible + i);
      }
      return this->beats;
    }
  };
  static constexpr unsigned kAcceptedRuns = 8;  // may wait for a consumer that has accepted them
  static_assert(!kInRuns<T> || std::is_trivially_copyable_v<T>);
  unsigned slots_taken() const {
    const auto n = static_cast<unsigned>(tail_ - head_);
    return tail_ >= head_ ? n : n + static_cast<unsigned>(slots_.size());
  }

  Slot* next(Slot* slot) { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  const Slot* next(const Slot* slot) const { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  // A slot and a credit. The caller fills in the beat.
  Slot& take(Cycle at) {
    RNIC_CHECK_MSG(push_from_ <= at, name_, ": push without credit, or a second one in one cycle");
    credits_.take();
    return take_slot(at, 1);
  }
  [[gnu::always_inline]] Slot& take_slot(Cycle at, unsigned beats) {
    Slot& slot = *tail_;
    RNIC_CHECK_MSG(tail_ != head_ || used_ == 0, name_, ": more runs than slots");
    tail_ = next(tail_);
    used_ += beats;
    free_from_ = at + beats;
    push_from_ = std::max(credits_.first(), free_from_);
    if constexpr (kInRuns<T>) static_cast<Run&>(slot) = {beats, kNever};
    if (observed_) tell_reserved(free_from_ - 1, push_from_);
    return slot;
  }
  template <class Beat>
  void push_as(Beat&& beat, Cycle at) {
    check_none_reserved();
    Slot& slot = take(at);
    slot.beat = std::forward<Beat>(beat);
    slot.visible = at + config_.latency;
    fill_ = tail_;
    ++pushed_;
    if (is_told(slot.beat)) tell_filled(&slot.beat, at, slot.visible);
  }
  // Beats of consecutive cycles. `accepted`: the consumer takes them as soon as they come.
  [[gnu::always_inline]] void push_run(const T& first, Cycle at, unsigned beats, bool accepted) {
    RNIC_CHECK_MSG(push_from_ <= at, name_, ": push without credit, or a second one in one cycle");
    const Cycle taken_from = std::max(at + config_.latency, accepted_from_);
    if (accepted) credits_.turn(taken_from + config_.credit_latency, beats);
    else credits_.take(beats);
    for (unsigned i = 1; observed_ && i < beats; ++i) tell_reserved(at + i - 1, at + i);
    Slot& slot = take_slot(at, beats);
    if (accepted) {
      slot.taken_from = taken_from;
      accepted_from_ = taken_from + beats;
    }
    slot.beat = first;
    slot.visible = at + config_.latency;
    fill_ = tail_;
    pushed_ += beats;
    if (!tapped_ || beat_taps_ == 0) return;
    slot.for_each([&](const T& beat, Cycle visible) { tell_filled(&beat, visible - config_.latency, visible); });
  }
  void wake_consumer(Cycle at, unsigned beats) {
    for (unsigned i = 0; consumer_ != nullptr && i < beats; ++i) consumer_->wake(at + i + config_.latency);
  }
  bool is_told(const T& beat) const {
    if constexpr (kOfBeats<T>) return tapped_ && (beat.last || beat_taps_ != 0);
    else return tapped_;
  }
  void check_none_reserved() const { RNIC_CHECK_MSG(fill_ == tail_, name_, ": push behind a reserved slot"); }
  bool ahead() const { return taker_ != nullptr && clk_.runs_ahead() && !consumer_->in_order(); }
  // How many beats from `first` on, pushed in cycle `at` or later, the consumer takes as soon as they come. Only if all
  // slots are free, and credits come back early enough for a beat in each cycle.
  unsigned accepted(const T& first, Cycle at) {
    if (!ahead() || config_.depth < config_.latency + config_.credit_latency) return 0;
    if (used_ != 0) advance_consumer();
    if (used_ != 0 || credits_.in_row(at) != config_.depth) return 0;
    const Acceptance acceptance = taker_->accepts(first, at + config_.latency);
    accepted_from_ = std::max(acceptance.from, at + config_.latency);
    return accepted_from_ + config_.credit_latency <= at + config_.depth ? acceptance.beats : 0;
  }
  // A consumer that left a beat waits for another event, which wakes it.
  void advance_consumer() {
    if (consumer_stuck_ || !ahead()) return;
    taker_->take_ahead();
    consumer_stuck_ = used_ != 0;
  }

  TakesAhead<T>* taker_ = nullptr;
  std::vector<Slot> slots_;
  Slot *head_, *fill_, *tail_;  // the oldest beat, the oldest reserved slot, the next free one
  Cycle accepted_from_ = 0;     // the consumer takes the next accepted beat then, if it is visible
  bool producer_waits_ = false, consumer_stuck_ = false;
};

// A stage's typed ends of a link: `out(link)` binds, `out->push(beat)` uses.
template <class T>
class Port : public PortBase {
 public:
  Link<T>* operator->() const { return link_; }
  Link<T>& operator*() const { return *link_; }
  bool bound() const final { return link_ != nullptr; }
  Stage& owner() const { return owner_; }

 protected:
  Port(Stage& owner, const char* name) : PortBase(name), owner_(owner) { owner.add(*this); }
  void take(Link<T>& link) {
    RNIC_CHECK_MSG(link_ == nullptr, std::string(owner_.name()) + "." + name() + " is bound twice");
    link_ = &link;
  }
  Stage& owner_;
  Link<T>* link_ = nullptr;
};

template <class T>
class PopPort : public Port<T> {
 public:
  PopPort(Stage& owner, const char* name) : Port<T>(owner, name) {}
  // The stage takes beats of future cycles; to be said before the port is bound.
  void ahead(TakesAhead<T>& taker) { taker_ = &taker; }
  void operator()(Link<T>& link) {
    this->take(link);
    link.set_consumer(this->owner_, taker_);
  }

 private:
  TakesAhead<T>* taker_ = nullptr;
};

template <class T>
class PushPort final : public Port<T> {
 public:
  PushPort(Stage& owner, const char* name) : Port<T>(owner, name) {}
  void operator()(Link<T>& link) {
    this->take(link);
    link.set_producer(this->owner_);
  }
};

}  // namespace rnic
