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
    reserve();
    fill(std::move(beat), config_.latency);
  }
  // push() in two steps, for a pipeline that knows the beat only when it leaves: reserve() takes the credit on entry,
  // fill() gives the oldest reserved slot its beat, visible `latency` cycles from now.
  void reserve() {
    RNIC_CHECK_MSG(used_ < config_.depth && slots_[tail_].stamp <= clk_.now(), name_ + ": push without credit");
    slots_[tail_].stamp = kNever;
    tail_ = next(tail_);
    ++used_;
    for (LinkObserver<T>* o : observers_) o->reserved(clk_.now(), next_credit());
  }
  void fill(T beat, unsigned latency) {
    Slot& slot = slots_[fill_];
    RNIC_CHECK_MSG(slot.stamp == kNever, name_ + ": fill without reserve");
    fill_ = next(fill_);
    slot.beat = std::move(beat);
    slot.stamp = clk_.now() + latency;
    ++pushed_;
    if (consumer_ != nullptr) consumer_->wake(slot.stamp);
    for (LinkObserver<T>* o : observers_) o->filled(slot.beat, slot.stamp);
  }

  // Consumer's side.
  bool can_pop() const { return used_ != 0 && slots_[head_].stamp <= clk_.now(); }
  const T& front() const { return slots_[head_].beat; }
  T pop() {
    RNIC_CHECK_MSG(can_pop(), name_ + ": pop of nothing");
    Slot& slot = slots_[head_];
    slot.stamp = clk_.now() + config_.credit_latency;
    for (LinkObserver<T>* o : observers_) o->popped(clk_.now(), used_ == config_.depth ? slot.stamp : kNever);
    head_ = next(head_);
    --used_;
    if (std::exchange(producer_waits_, false) && producer_ != nullptr) producer_->wake(slot.stamp);
    return std::move(slot.beat);
  }

  void set_producer(Stage& stage) { set(producer_, stage); }
  void set_consumer(Stage& stage) { set(consumer_, stage); }
  void observe(LinkObserver<T>& observer) { observers_.push_back(&observer); }

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
  Cycle next_credit() const {
    if (used_ == config_.depth) return kNever;
    return slots_[tail_].stamp > clk_.now() ? slots_[tail_].stamp : clk_.now() + 1;
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
  std::vector<LinkObserver<T>*> observers_;
  unsigned head_ = 0, fill_ = 0, tail_ = 0, used_ = 0;
  bool producer_waits_ = false;
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
