// A registered link between two stages of one clock: valid/ready with latency in both directions.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/link_observer.h"

namespace rnic {

template <class T>
class BurstIn;
template <class T>
class BurstOut;

// Beats that have something to give back when they are dropped on their way have a member abandon().
template <class T, class = void>
inline constexpr bool kAbandoned = false;
template <class T>
inline constexpr bool kAbandoned<T, std::void_t<decltype(std::declval<T&>().abandon())>> = true;

struct LinkConfig {
  unsigned depth = 2;           // beats in flight and waiting together; full rate needs latency + credit_latency
  unsigned latency = 1;         // cycles from push to the first cycle in which can_pop() sees it, 1 to 63
  unsigned credit_latency = 1;  // cycles from pop to the first cycle in which can_push() sees the free slot, 1 to 63
};

// Nothing a neighbour does in a cycle is visible in that cycle, so the order of calls within a cycle cannot matter.
// One producer, one consumer. A slot carries one stamp: while full, when its beat becomes visible; while free, when
// its credit is back.
template <class T>
class Link final {
 public:
  [[gnu::noinline, gnu::cold]] Link(std::string name, ClockDomain& clk, const LinkConfig& config)
      : name_(std::move(name)), clk_(clk), config_(config), slots_(config.depth) {
    head_ = fill_ = tail_ = slots_.data();
    RNIC_CHECK_MSG(config.depth >= 1, name_);
    RNIC_CHECK_MSG(config.latency >= 1 && config.latency < ClockDomain::kNearCycles, name_);
    RNIC_CHECK_MSG(config.credit_latency >= 1 && config.credit_latency < ClockDomain::kNearCycles, name_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

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
  // and gives the slot, in which what is known already may wait; reserved() is the oldest one, and fill() shows its
  // beat, visible `latency` cycles from now. For those who watch it is as if it had been pushed then.
  T& reserve() {
    Slot& slot = take_credit(clk_.now());
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
    show(clk_.now() + latency);
    if (consumer_ != nullptr) consumer_->wake(clk_.now() + latency);
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

  // The same for stages that run ahead (clock_domain.md): a move's cycle is a number, of which each end knows what the
  // other one does until then. kNever is "not known yet"; the stage is called when it is. See burst.h for many moves.
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
  void drop_at(Cycle at) {
    RNIC_CHECK_MSG(front_at() <= at, name_, ": pop of nothing");
    const Cycle credit = at + config_.credit_latency;
    head_->stamp = credit;
    if (watched_) tell_popped(at, used_ == config_.depth ? credit : kNever);
    head_ = next(head_);
    freed(1, credit);
  }

  // At the end of a cycle: nothing in flight or waiting from the next one on. Both stages are reset, too.
  void reset() {
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
    for (LinkObserver<T>* o : observers_) o->emptied(clk_.now());
  }

  void set_producer(Stage& stage) { set(producer_, stage); }
  void set_consumer(Stage& stage) {
    set(consumer_, stage);
    ahead_ = dynamic_cast<RunsAhead*>(&stage);
  }
  void tap(LinkTap<T>& tap) {
    taps_.push_back(&tap);
    watched_ = true;
  }
  void observe(LinkObserver<T>& observer) {
    observers_.push_back(&observer);
    tap(observer);
  }

  void forget(LinkObserver<T>& observer) {
    observers_.erase(std::remove(observers_.begin(), observers_.end(), &observer), observers_.end());
    taps_.erase(std::remove(taps_.begin(), taps_.end(), &observer), taps_.end());
    watched_ = !taps_.empty();
  }
  // For an observer that comes in mid-run. No move has been made in cycle `next` or later; else some of what it would
  // see has passed.
  bool is_settled(Cycle next) const {
    const Cycle longest = std::max(config_.latency, config_.credit_latency);
    return free_from_ <= next && std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
             return slot.stamp == kNever || slot.stamp < next + longest;
           });
  }
  // The beats that are visible or will be, the oldest first: see(beat, visible).
  template <class See>
  void for_each_beat(See see) {
    Slot* slot = head_;
    for (unsigned n = 0; n < used_ && slot->stamp != kNever; ++n, slot = next(slot)) see(slot->beat, slot->stamp);
  }
  Cycle credit_from() const { return push_from_; }  // kNever: not before another pop

  const std::string& name() const { return name_; }
  const LinkConfig& config() const { return config_; }
  std::uint64_t pushed() const { return pushed_; }  // beats ever pushed
  unsigned used() const { return used_; }           // slots that hold a beat, or will
  bool empty() const { return used_ == 0; }         // nothing waiting or in flight

 private:
  friend class BurstIn<T>;
  friend class BurstOut<T>;
  struct Slot {
    T beat{};
    Cycle stamp = 0;
  };
  Slot* next(Slot* slot) { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  Slot& take_credit(Cycle at) {
    RNIC_CHECK_MSG(push_from_ <= at, name_, ": push without credit, or a second one in one cycle");
    Slot& slot = *tail_;
    tail_ = next(tail_);
    ++used_;
    free_from_ = at + 1;
    push_from_ = next_push();
    if (watched_) tell_reserved(at, push_from_);
    return slot;
  }
  template <class Beat>
  void push_as(Beat&& beat, Cycle at) {
    RNIC_CHECK_MSG(fill_ == tail_, name_, ": push behind a reserved slot");
    take_credit(at).beat = std::forward<Beat>(beat);
    show(at + config_.latency);
    if (consumer_ != nullptr) consumer_->wake(at + config_.latency);
  }
  // The beat in the oldest slot that has none to show yet.
  void show(Cycle visible) {
    Slot& slot = *fill_;
    slot.stamp = visible;
    fill_ = next(fill_);
    ++pushed_;
    if (watched_) tell_filled(slot.beat, visible - config_.latency, visible);
  }
  Cycle next_push() const { return used_ == config_.depth ? kNever : std::max(tail_->stamp, free_from_); }
  // Slots whose beats were popped, the first with this credit.
  void freed(unsigned slots, Cycle credit) {
    if (used_ == config_.depth) push_from_ = std::max(credit, free_from_);
    used_ -= slots;
    consumer_stuck_ = false;
    if (!producer_waits_ || producer_ == nullptr) return;
    producer_waits_ = false;
    producer_->wake(credit);
  }
  bool ahead() const { return ahead_ != nullptr && clk_.runs_ahead() && !consumer_->in_order(); }
  // A consumer that left something behind waits for somebody else, who calls it.
  void advance_consumer() {
    if (consumer_stuck_ || !ahead()) return;
    ahead_->run_ahead();
    consumer_stuck_ = used_ != 0;
  }
  [[gnu::noinline]] void tell_reserved(Cycle at, Cycle credit) {
    for (LinkObserver<T>* o : observers_) o->reserved(at, credit);
  }
  [[gnu::noinline]] void tell_filled(const T& beat, Cycle at, Cycle visible) {
    for (LinkTap<T>* tap : taps_) tap->filled(beat, at, visible);
  }
  [[gnu::noinline]] void tell_popped(Cycle at, Cycle credit) {
    for (LinkObserver<T>* o : observers_) o->popped(at, credit);
  }
  void set(Stage*& end, Stage& stage) {
    RNIC_CHECK_MSG(end == nullptr, name_, " is bound twice on one side");
    RNIC_CHECK_MSG(&stage.clock() == &clk_, name_, " joins stages of different clocks");
    end = &stage;
  }

  const std::string name_;
  ClockDomain& clk_;
  const LinkConfig config_;
  std::vector<Slot> slots_;
  Stage* producer_ = nullptr;
  Stage* consumer_ = nullptr;
  RunsAhead* ahead_ = nullptr;  // the consumer, if it does
  std::vector<LinkTap<T>*> taps_;
  std::vector<LinkObserver<T>*> observers_;
  Slot *head_, *fill_, *tail_;  // the oldest beat, the oldest reserved slot, the next free one
  unsigned used_ = 0;
  Cycle free_from_ = 0;  // valid and ready pins move one beat a cycle
  Cycle push_from_ = 0;  // the first cycle for the next push; kNever while all slots are taken
  bool producer_waits_ = false, consumer_stuck_ = false;
  bool watched_ = false;  // by taps or observers
  std::uint64_t pushed_ = 0;
};

// A stage's typed ends of a link: `out(link)` binds, `out->push(beat)` uses.
inline constexpr bool kOptional = true;

template <class T>
class Port : public PortBase {
 public:
  Link<T>* operator->() const { return link_; }
  Link<T>& operator*() const { return *link_; }
  bool bound() const final { return link_ != nullptr; }

 protected:
  Port(Stage& owner, const char* name, bool optional) : PortBase(name, optional), owner_(owner) { owner.add(*this); }
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
  PopPort(Stage& owner, const char* name, bool optional = false) : Port<T>(owner, name, optional) {}
  void operator()(Link<T>& link) {
    this->take(link);
    link.set_consumer(this->owner_);
  }
};

template <class T>
class PushPort final : public Port<T> {
 public:
  PushPort(Stage& owner, const char* name, bool optional = false) : Port<T>(owner, name, optional) {}
  void operator()(Link<T>& link) {
    this->take(link);
    link.set_producer(this->owner_);
  }
};

}  // namespace rnic
