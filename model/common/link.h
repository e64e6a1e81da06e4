// A registered link between two stages of one clock: valid/ready with latency in both directions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/link_observer.h"

namespace rnic {

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
  Link(std::string name, ClockDomain& clk, const LinkConfig& config)
      : name_(std::move(name)), clk_(clk), config_(config), slots_(config.depth) {
    RNIC_CHECK_MSG(config.depth >= 1, name_);
    RNIC_CHECK_MSG(config.latency >= 1 && config.latency < ClockDomain::kNearCycles, name_);
    RNIC_CHECK_MSG(config.credit_latency >= 1 && config.credit_latency < ClockDomain::kNearCycles, name_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Producer's side. A refusal is remembered: the producer is called when the credit is back.
  bool can_push() {
    if (used_ == config_.depth) {
      producer_waits_ = true;
      return false;
    }
    if (slots_[tail_].stamp > clk_.now()) {
      if (producer_ != nullptr) producer_->wake(slots_[tail_].stamp);
      return false;
    }
    return true;
  }
  void push(T beat) {
    put(std::move(beat), clk_.now());
    if (consumer_ != nullptr) consumer_->wake(clk_.now() + config_.latency);
  }
  // push() in two steps, for a pipeline that knows the beat only when it leaves: reserve() takes the credit on entry,
  // fill() gives the oldest reserved slot its beat, visible `latency` cycles from now.
  void reserve() { take_credit(clk_.now()).stamp = kNever; }
  void fill(T beat, unsigned latency) {
    RNIC_CHECK_MSG(slots_[fill_].stamp == kNever, name_ + ": fill without reserve");
    fill_slot(slots_[fill_], std::move(beat), clk_.now(), latency);
    if (consumer_ != nullptr) consumer_->wake(clk_.now() + latency);
  }

  // Consumer's side.
  bool can_pop() const { return front_at() <= clk_.now(); }
  const T& front() const { return slots_[head_].beat; }
  T& front() { return slots_[head_].beat; }
  T pop() { return pop_at(clk_.now()); }

  // The same for stages that run ahead (clock_domain.md): a move's cycle is a number, of which each end knows what the
  // other one does until then. kNever is "not known yet"; the stage is called when it is.
  Cycle front_at() const { return used_ == 0 ? kNever : slots_[head_].stamp; }  // may have passed long ago
  Cycle credit_at() {
    if (used_ == config_.depth) advance_consumer();
    if (used_ != config_.depth) return slots_[tail_].stamp;
    producer_waits_ = true;
    return kNever;
  }
  template <class U = T>
  void push_at(U&& beat, Cycle at) {
    put(std::forward<U>(beat), at);
    if (!ahead() && consumer_ != nullptr) consumer_->wake(at + config_.latency);
  }
  // Ends a series of push_at(): lets the consumer run after the producer, and be called for what it has to wait for.
  void flush() {
    if (used_ == 0 || !ahead()) return;
    advance_consumer();
    if (const Cycle at = front_at(); at != kNever && at > clk_.now()) consumer_->wake(at);
  }
  T pop_at(Cycle at) {
    T beat = std::move(slots_[head_].beat);
    drop_at(at);
    return beat;
  }
  void drop_at(Cycle at) {
    RNIC_CHECK_MSG(front_at() <= at, name_ + ": pop of nothing");
    const Cycle credit = at + config_.credit_latency;
    slots_[head_].stamp = credit;
    for (LinkObserver<T>* o : observers_) o->popped(at, used_ == config_.depth ? credit : kNever);
    head_ = next(head_);
    --used_;
    consumer_stuck_ = false;
    if (producer_waits_ && producer_ != nullptr) {
      producer_waits_ = false;
      producer_->wake(credit);
    }
  }

  void set_producer(Stage& stage) { set(producer_, stage); }
  void set_consumer(Stage& stage) {
    set(consumer_, stage);
    ahead_ = dynamic_cast<RunsAhead*>(&stage);
  }
  void tap(LinkTap<T>& tap) { taps_.push_back(&tap); }
  void observe(LinkObserver<T>& observer) {
    observers_.push_back(&observer);
    tap(observer);
  }

  const std::string& name() const { return name_; }
  const LinkConfig& config() const { return config_; }
  std::uint64_t pushed() const { return pushed_; }  // beats ever pushed
  bool empty() const { return used_ == 0; }         // nothing waiting or in flight

 private:
  struct Slot {
    T beat{};
    Cycle stamp = 0;
  };
  unsigned next(unsigned i) const { return i + 1 == config_.depth ? 0 : i + 1; }
  bool ahead() const { return ahead_ != nullptr && clk_.runs_ahead(); }
  Slot& take_credit(Cycle at) {
    Slot& slot = slots_[tail_];
    RNIC_CHECK_MSG(used_ < config_.depth && slot.stamp <= at, name_ + ": push without credit");
    tail_ = next(tail_);
    ++used_;
    for (LinkObserver<T>* o : observers_) o->reserved(at, next_credit(at));
    return slot;
  }
  template <class U>
  void fill_slot(Slot& slot, U&& beat, Cycle at, unsigned latency) {
    slot.beat = std::forward<U>(beat);
    slot.stamp = at + latency;
    fill_ = next(fill_);
    ++pushed_;
    for (LinkTap<T>* tap : taps_) tap->filled(slot.beat, at, slot.stamp);
  }
  template <class U>
  void put(U&& beat, Cycle at) {
    RNIC_CHECK_MSG(fill_ == tail_, name_ + ": push behind a reserved slot");
    fill_slot(take_credit(at), std::forward<U>(beat), at, config_.latency);
  }
  // A consumer that left something behind waits for somebody else, who calls it.
  void advance_consumer() {
    if (consumer_stuck_ || !ahead()) return;
    ahead_->run_ahead();
    consumer_stuck_ = used_ != 0;
  }
  Cycle next_credit(Cycle at) const {
    if (used_ == config_.depth) return kNever;
    return slots_[tail_].stamp > at ? slots_[tail_].stamp : at + 1;
  }
  void set(Stage*& end, Stage& stage) {
    RNIC_CHECK_MSG(end == nullptr, name_ + " is bound twice on one side");
    RNIC_CHECK_MSG(&stage.clock() == &clk_, name_ + " joins stages of different clocks");
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
  unsigned head_ = 0, fill_ = 0, tail_ = 0, used_ = 0;
  bool producer_waits_ = false, consumer_stuck_ = false;
  std::uint64_t pushed_ = 0;
};

// A stage's typed ends of a link: `out(link)` binds, `out->push(beat)` uses.
template <class T>
class Port {
 public:
  Link<T>* operator->() const { return link_; }
  bool bound() const { return link_ != nullptr; }

 protected:
  Port(Stage& owner, const char* name) : owner_(owner), name_(name) {}
  void take(Link<T>& link) {
    RNIC_CHECK_MSG(link_ == nullptr, std::string(owner_.name()) + "." + name_ + " is bound twice");
    link_ = &link;
  }
  Stage& owner_;
  const char* name_;
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
