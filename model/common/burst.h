// The ends of a link during a call of a stage that runs ahead (clock_domain.md): the moves of many cycles. What they
// know of the link lies in registers, and the link learns of it at the end.
#pragma once

#include <algorithm>

#include "model/common/link.h"

namespace rnic {

// The consumer's end.
template <class T>
class BurstIn final {
  using Slot = typename Link<T>::Slot;

 public:
  explicit BurstIn(Link<T>& link)
      : link_(link),
        begin_(link.slots_.data()),
        end_(begin_ + link.config_.depth),
        head_(link.head_),
        used_(link.used_),
        credit_latency_(link.config_.credit_latency),
        watched_(!link.observers_.empty()) {}
  BurstIn(const BurstIn&) = delete;
  BurstIn& operator=(const BurstIn&) = delete;
  ~BurstIn() noexcept(false) {
    if (used_ == link_.used_) return;
    link_.head_ = head_;
    link_.freed(link_.used_ - used_, first_credit_);
  }

  Cycle front_at() const { return used_ == 0 ? kNever : head_->stamp; }
  T& front() { return head_->beat; }
  void drop(Cycle at) {
    RNIC_CHECK_MSG(front_at() <= at, link_.name_, ": pop of nothing");
    const Cycle credit = head_->stamp = at + credit_latency_;
    if (watched_) link_.tell_popped(at, used_ == link_.config_.depth ? credit : kNever);
    if (used_ == link_.used_) first_credit_ = credit;
    if (++head_ == end_) head_ = begin_;
    --used_;
  }

 private:
  Link<T>& link_;
  Slot* const begin_;
  Slot* const end_;
  Slot* head_;
  unsigned used_;
  const unsigned credit_latency_;
  const bool watched_;
  Cycle first_credit_ = 0;
};

// The producer's end. The consumer runs when the credits are used up, and at last.
template <class T>
class BurstOut final {
  using Slot = typename Link<T>::Slot;

 public:
  explicit BurstOut(Link<T>& link)
      : link_(link),
        begin_(link.slots_.data()),
        end_(begin_ + link.config_.depth),
        latency_(link.config_.latency),
        watched_(!link.taps_.empty()),
        ahead_(link.ahead()) {
    RNIC_CHECK_MSG(link.fill_ == link.tail_, link.name_, ": push behind a reserved slot");
    load();
  }
  BurstOut(const BurstOut&) = delete;
  BurstOut& operator=(const BurstOut&) = delete;
  ~BurstOut() noexcept(false) {
    store();
    if (link_.used_ == 0 || !ahead_) return;
    link_.advance_consumer();
    if (const Cycle at = link_.front_at(); at != kNever && at > link_.clk_.now()) link_.consumer_->wake(at);
  }

  Cycle credit_at() {
    if (room_ == 0) {
      store();
      link_.credit_at();
      load();
    }
    return room_ == 0 ? kNever : tail_->stamp;
  }
  void push(const T& beat, Cycle at) {
    RNIC_CHECK_MSG(room_ != 0 && tail_->stamp <= at, link_.name_, ": push without credit");
    RNIC_CHECK_MSG(at >= free_from_, link_.name_, ": a second push in one cycle");
    free_from_ = at + 1;
    Slot& slot = *tail_;
    slot.beat = beat;
    slot.stamp = at + latency_;
    if (++tail_ == end_) tail_ = begin_;
    --room_;
    if (watched_) tell(slot, at);
    if (!ahead_ && link_.consumer_ != nullptr) link_.consumer_->wake(slot.stamp);
  }

 private:
  void load() {
    tail_ = link_.tail_;
    free_from_ = link_.free_from_;
    loaded_ = room_ = link_.config_.depth - link_.used_;
  }
  void store() {
    link_.tail_ = link_.fill_ = tail_;
    link_.free_from_ = free_from_;
    link_.used_ += loaded_ - room_;
    link_.push_from_ = link_.next_push();
    link_.pushed_ += loaded_ - room_;
    loaded_ = room_;
  }
  void tell(const Slot& slot, Cycle at) {
    if (!link_.observers_.empty()) link_.tell_reserved(at, room_ == 0 ? kNever : std::max(tail_->stamp, at + 1));
    link_.tell_filled(&slot.beat, at, slot.stamp);
  }

  Link<T>& link_;
  Slot* const begin_;
  Slot* const end_;
  Slot* tail_;
  Cycle free_from_;
  unsigned room_, loaded_;
  const unsigned latency_;
  const bool watched_, ahead_;
};

// A stage with one input and one output, which takes a beat in every cycle in which it can: f(beat) for each, in its
// order, and on it goes. `next` is the stage's first cycle for another beat; the result is what its tick() answers.
template <class T, class F>
Wake for_each_beat(Link<T>& in, Link<T>& out, Cycle& next, Cycle horizon, F f) {
  BurstIn from(in);
  BurstOut to(out);
  Cycle at;
  for (; (at = std::max({from.front_at(), to.credit_at(), next})) <= horizon; next = at + 1) {
    f(from.front());
    to.push(from.front(), at);
    from.drop(at);
  }
  return Wake::at_cycle(at);
}

}  // namespace rnic
