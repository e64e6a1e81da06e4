// The two ends of a link, and the moves that are made there: all that holds of a slot, a stamp and a credit is written
// here. A burst is the moves of many cycles in one call, of a stage that runs ahead (clock_domain.md): what an end
// knows of the link lies in registers, and the link learns of it at the end. A single move is a burst of one.
#pragma once

#include <algorithm>
#include <utility>

#include "model/common/link_base.h"

namespace rnic {

template <class T>
class Link;

// The consumer's end. A beat is taken when it is visible or later; its slot is free credit_latency cycles after that.
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
        observed_(link.observed_) {}
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
    if (observed_) link_.tell_popped(at, used_ == link_.config_.depth ? credit : kNever);
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
  const bool observed_;
  Cycle first_credit_ = 0;
};

// The producer's end: one beat a cycle, each into a slot whose credit is back, visible `latency` cycles later.
template <class T>
class LinkTail final {
  using Slot = typename Link<T>::Slot;

 public:
  explicit LinkTail(Link<T>& link)
      : link_(link), begin_(link.slots_.data()), end_(begin_ + link.config_.depth), latency_(link.config_.latency) {
    load();
  }
  LinkTail(const LinkTail&) = delete;
  LinkTail& operator=(const LinkTail&) = delete;

  Cycle credit_at() const { return room_ == 0 ? kNever : tail_->stamp; }
  // Takes the slot. Its beat and its stamp are the caller's.
  Slot& take(Cycle at) {
    RNIC_CHECK_MSG(push_from_ <= at, link_.name_, ": push without credit, or a second one in one cycle");
    Slot& slot = *tail_;
    free_from_ = at + 1;
    if (++tail_ == end_) tail_ = begin_;
    --room_;
    push_from_ = std::max(credit_at(), free_from_);
    if (link_.observed_) link_.tell_reserved(at, push_from_);
    return slot;
  }
  // The cycle in which the beat becomes visible.
  template <class Beat>
  Cycle push(Beat&& beat, Cycle at) {
    Slot& slot = take(at);
    slot.beat = std::forward<Beat>(beat);
    slot.stamp = at + latency_;
    if (link_.is_told(slot.beat)) link_.tell_filled(&slot.beat, at, slot.stamp);
    return slot.stamp;
  }

  void load() {
    tail_ = link_.tail_;
    free_from_ = link_.free_from_;
    push_from_ = link_.push_from_;
    loaded_ = room_ = link_.config_.depth - link_.used_;
  }
  // The slots that were taken since are the link's; store_pushed(): and their beats are on it.
  void store() {
    link_.tail_ = tail_;
    link_.free_from_ = free_from_;
    link_.used_ += loaded_ - room_;
    link_.push_from_ = push_from_;
    loaded_ = room_;
  }
  void store_pushed() {
    link_.fill_ = tail_;
    link_.pushed_ += loaded_ - room_;
    store();
  }

 private:
  Link<T>& link_;
  Slot* const begin_;
  Slot* const end_;
  Slot* tail_;
  Cycle free_from_, push_from_;
  unsigned room_, loaded_;
  const unsigned latency_;
};

// The producer's end in a burst. The consumer runs when the credits are used up, and at last.
template <class T>
class BurstOut final {
 public:
  explicit BurstOut(Link<T>& link) : link_(link), tail_(link), ahead_(link.ahead()) { link.check_none_reserved(); }
  BurstOut(const BurstOut&) = delete;
  BurstOut& operator=(const BurstOut&) = delete;
  ~BurstOut() noexcept(false) {
    tail_.store_pushed();
    if (link_.used_ == 0 || !ahead_) return;
    link_.advance_consumer();
    if (const Cycle at = link_.front_at(); at != kNever && at > link_.clk_.now()) link_.consumer_->wake(at);
  }

  Cycle credit_at() {
    if (tail_.credit_at() == kNever) {
      tail_.store_pushed();
      link_.credit_at();
      tail_.load();
    }
    return tail_.credit_at();
  }
  void push(const T& beat, Cycle at) {
    const Cycle visible = tail_.push(beat, at);
    if (!ahead_ && link_.consumer_ != nullptr) link_.consumer_->wake(visible);
  }

 private:
  Link<T>& link_;
  LinkTail<T> tail_;
  const bool ahead_;
};

}  // namespace rnic
