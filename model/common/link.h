// A registered link between two stages of one clock: valid/ready with latency in both directions.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/link_ends.h"

namespace rnic {

// Beats that hold a resource have a member abandon(), which releases it when they are dropped in flight.
template <class T, class = void>
inline constexpr bool kAbandoned = false;
template <class T>
inline constexpr bool kAbandoned<T, std::void_t<decltype(std::declval<T&>().abandon())>> = true;

// Messages of several beats, of which the first and the last are marked.
template <class T, class = void>
inline constexpr bool kOfBeats = false;
template <class T>
inline constexpr bool kOfBeats<T, std::void_t<decltype(std::declval<T>().first && std::declval<T>().last)>> = true;

// Nothing a neighbour does in a cycle is visible in that cycle, so the order of calls within a cycle cannot matter.
// One producer, one consumer. A slot carries one stamp: while full, when its beat becomes visible; while free, when
// its credit is back.
template <class T>
class Link final : public LinkBase {
 public:
  [[gnu::noinline, gnu::cold]] Link(std::string name, ClockDomain& clk, const LinkConfig& config)
      : LinkBase(std::move(name), clk, config), slots_(config.depth) {
    head_ = fill_ = tail_ = slots_.data();
  }

  // Producer's side: one beat a cycle. A refusal is remembered: the producer is called when it can push.
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
    LinkTail<T> tail(*this);
    Slot& slot = tail.take(clk_.now());
    tail.store();
    slot.stamp = kNever;
    return slot.beat;
  }
  T& reserved() {
    RNIC_CHECK_MSG(fill_->stamp == kNever, name_, ": fill without reserve");
    return fill_->beat;
  }
  void fill(unsigned latency) {
    RNIC_CHECK_MSG(fill_->stamp == kNever, name_, ": fill without reserve");
    RNIC_CHECK_MSG(latency <= config_.latency, name_, ": fill later than a push");
    Slot& slot = *fill_;
    slot.stamp = clk_.now() + latency;
    fill_ = next(fill_);
    ++pushed_;
    if (is_told(slot.beat)) tell_filled(&slot.beat, slot.stamp - config_.latency, slot.stamp);
    if (consumer_ != nullptr) consumer_->wake(slot.stamp);
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

  // The same for stages that run ahead (clock_domain.md): a move's cycle is a number up to which each end knows the
  // moves of the other one. kNever means not known yet; the stage is called when it is. BurstIn and BurstOut make many.
  Cycle front_at() const { return used_ == 0 ? kNever : head_->stamp; }  // may have passed long ago
  Cycle credit_at() {
    if (push_from_ == kNever) advance_consumer();
    producer_waits_ |= push_from_ == kNever;
    return push_from_;
  }
  void push_at(const T& beat, Cycle at) { push_as(beat, at); }
  void push_at(T&& beat, Cycle at) { push_as(std::move(beat), at); }
  T pop_at(Cycle at) {
    RNIC_CHECK_MSG(front_at() <= at, name_, ": pop of nothing");
    T beat = std::move(head_->beat);
    drop_at(at);
    return beat;
  }
  void drop_at(Cycle at) { BurstIn<T>(*this).drop(at); }

  void reset() override {
    if constexpr (kAbandoned<T>) {
      for (; used_ != 0; --used_, head_ = next(head_)) {
        if (head_->stamp != kNever) head_->beat.abandon();
      }
    }
    for (Slot& slot : slots_) slot = {};
    head_ = fill_ = tail_ = slots_.data();
    used_ = 0;
    free_from_ = push_from_ = 0;
    producer_waits_ = consumer_stuck_ = false;
    tell_emptied();
  }

  void set_producer(Stage& stage) { set_end(producer_, stage); }
  void set_consumer(Stage& stage) {
    set_end(consumer_, stage);
    set_ahead(stage);
  }

  MessageKind kind() const override { return kind_of<T>(); }
  bool is_settled(Cycle next) const override {
    const Cycle longest = std::max(config_.latency, config_.credit_latency);
    return free_from_ <= next && std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
             return slot.stamp == kNever || slot.stamp < next + longest;
           });
  }
  void show_beats(LinkTap& tap, Cycle next_cycle) const override {
    const Slot* slot = head_;
    for (unsigned n = 0; n < used_ && slot->stamp != kNever; ++n, slot = next(slot)) {
      tap.filled(&slot->beat, next_cycle, std::max(slot->stamp, next_cycle));
    }
  }

 private:
  friend class BurstIn<T>;
  friend class LinkTail<T>;
  friend class BurstOut<T>;
  struct Slot {
    T beat{};
    Cycle stamp = 0;
  };
  Slot* next(Slot* slot) { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  const Slot* next(const Slot* slot) const { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  template <class Beat>
  void push_as(Beat&& beat, Cycle at) {
    check_none_reserved();
    LinkTail<T> tail(*this);
    const Cycle visible = tail.push(std::forward<Beat>(beat), at);
    tail.store_pushed();
    if (consumer_ != nullptr) consumer_->wake(visible);
  }
  bool is_told(const T& beat) const {
    if constexpr (kOfBeats<T>) return tapped_ && (beat.last || beat_taps_ != 0);
    else return tapped_;
  }
  void check_none_reserved() const { RNIC_CHECK_MSG(fill_ == tail_, name_, ": push behind a reserved slot"); }
  // Slots whose beats were popped, the first with this credit.
  void freed(unsigned slots, Cycle credit) {
    if (used_ == config_.depth) push_from_ = std::max(credit, free_from_);
    used_ -= slots;
    consumer_stuck_ = false;
    if (!producer_waits_ || producer_ == nullptr) return;
    producer_waits_ = false;
    producer_->wake(credit);
  }
  // A consumer that left a beat waits for another event, which wakes it.
  void advance_consumer() {
    if (consumer_stuck_ || !ahead()) return;
    ahead_->run_ahead();
    consumer_stuck_ = used_ != 0;
  }

  std::vector<Slot> slots_;
  Slot *head_, *fill_, *tail_;  // the oldest beat, the oldest reserved slot, the next free one
  Cycle free_from_ = 0;         // valid and ready pins move one beat a cycle
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
  ~Port() = default;
  void take(Link<T>& link) {
    RNIC_CHECK_MSG(link_ == nullptr, std::string(owner_.name()) + "." + name() + " is bound twice");
    link_ = &link;
  }
  Stage& owner_;
  Link<T>* link_ = nullptr;
};

template <class T>
class PopPort final : public Port<T> {
 public:
  PopPort(Stage& owner, const char* name) : Port<T>(owner, name) {}
  void operator()(Link<T>& link) {
    this->take(link);
    link.set_consumer(this->owner_);
  }
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
