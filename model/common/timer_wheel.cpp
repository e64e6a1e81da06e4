#include "model/common/timer_wheel.h"

#include <algorithm>

#include "model/common/check.h"

namespace rnic {

TimerWheel::TimerWheel(std::size_t timers) : timers_(timers) {
  RNIC_CHECK(timers <= kHead);
  slots_.fill(kOut);
}

void TimerWheel::clear() { *this = TimerWheel(timers_.size()); }

std::size_t TimerWheel::running() const {
  return static_cast<std::size_t>(
      std::count_if(timers_.begin(), timers_.end(), [](const Timer& t) { return t.deadline != kNever; }));
}

void TimerWheel::move(std::uint32_t number) {
  if (timers_[number].looked_at != kNever) leave(number);
  enter(number);
}

void TimerWheel::cancel(std::uint32_t number) {
  Timer& t = timers_[number];
  t.deadline = kNever;
  if (t.looked_at == kNever) return;
  const bool first = t.looked_at == next_;
  leave(number);
  if (first && taken_ == due_.size()) next_ = earliest();
}

// By its deadline. One beyond all wheels waits in the last slot of the last one, and is looked at again.
void TimerWheel::enter(std::uint32_t number) {
  const Cycle at = timers_[number].deadline;
  if (at <= time_) return add_due(number);
  if (at - time_ < kFirstSlots) return put(number, static_cast<unsigned>(at % kFirstSlots), at);
  for (unsigned wheel = 1;; ++wheel) {
    const Cycle here = time_ >> shift(wheel), ahead = (at >> shift(wheel)) - here;
    if (ahead >= kSlots && wheel + 1 < kWheels) continue;
    const Cycle slot = here + std::min<Cycle>(ahead, kSlots - 1);
    const unsigned first = kFirstSlots + kSlots * (wheel - 1);
    return put(number, first + static_cast<unsigned>(slot % kSlots), slot << shift(wheel));
  }
}

void TimerWheel::put(std::uint32_t number, unsigned slot, Cycle begins) {
  Timer& t = timers_[number];
  t.looked_at = begins;
  t.next = slots_[slot];
  t.before = kHead | slot;
  if (t.next != kOut) timers_[t.next].before = number;
  slots_[slot] = number;
  occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  next_ = std::min(next_, begins);
}

void TimerWheel::leave(std::uint32_t number) {
  Timer& t = timers_[number];
  if (t.next != kOut) timers_[t.next].before = t.before;
  if ((t.before & kHead) == 0) {
    timers_[t.before].next = t.next;
  } else {
    const unsigned slot = t.before & ~kHead;
    slots_[slot] = t.next;
    if (t.next == kOut) occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  }
  t.looked_at = kNever;
  t.before = kOut;
}

// Started for a cycle that has come.
void TimerWheel::add_due(std::uint32_t number) {
  const Due due{timers_[number].deadline, number};
  timers_[number].before = kDue;
  due_.insert(std::upper_bound(due_.begin() + static_cast<std::ptrdiff_t>(taken_), due_.end(), due), due);
  next_ = std::min(next_, due.deadline);
}

// Those that have expired come first; then the slots that have begun since, one after another.
bool TimerWheel::find_due(Cycle now) {
  for (;;) {
    for (; taken_ != due_.size(); ++taken_) {
      const Timer& t = timers_[due_[taken_].number];
      if (t.before == kDue && t.deadline == due_[taken_].deadline) return next_ = t.deadline, true;
    }
    due_.clear();
    taken_ = 0;
    next_ = earliest();
    if (next_ > now) break;
    turn();
  }
  time_ = now;
  return false;
}

std::uint32_t TimerWheel::take() {
  const std::uint32_t number = due_[taken_++].number;
  timers_[number].deadline = kNever;
  timers_[number].before = kOut;
  next_ = taken_ != due_.size() ? due_[taken_].deadline : earliest();
  return number;
}

// To the next slots that begin: their timers have expired, or go into others by their deadlines.
void TimerWheel::turn() {
  time_ = next_;
  for (unsigned wheel = kWheels - 1; wheel != 0; --wheel) {
    if (time_ % (Cycle{1} << shift(wheel)) != 0) continue;
    empty(kFirstSlots + kSlots * (wheel - 1) + static_cast<unsigned>((time_ >> shift(wheel)) % kSlots));
  }
  empty(static_cast<unsigned>(time_ % kFirstSlots));
  if (due_.size() > 1) std::sort(due_.begin(), due_.end());
}

void TimerWheel::empty(unsigned slot) {
  if ((occupied_[slot / 64] >> (slot % 64) & 1) == 0) return;
  occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  std::uint32_t number = slots_[slot];
  slots_[slot] = kOut;
  while (number != kOut) {
    Timer& t = timers_[number];
    const std::uint32_t next = t.next;
    t.looked_at = kNever;
    t.before = kOut;
    if (t.deadline <= time_) {
      t.before = kDue;
      due_.push_back({t.deadline, number});
    } else if (t.deadline != kNever) {
      enter(number);
    }
    number = next;
  }
}

// Of the slots from `from` on, circularly, how many before the first one that is occupied; 64: none is.
static unsigned steps_to_first(std::uint64_t occupied, unsigned from) {
  if (occupied == 0) return 64;
  return static_cast<unsigned>(__builtin_ctzll(occupied >> from | occupied << (-from % 64)));
}

Cycle TimerWheel::earliest() const {
  Cycle at = earliest_of_first();
  for (unsigned wheel = 1; wheel < kWheels; ++wheel) {
    const Cycle here = (time_ >> shift(wheel)) + 1;  // the slot that has begun is empty
    const unsigned steps =
        steps_to_first(occupied_[kFirstSlots / 64 + wheel - 1], static_cast<unsigned>(here % kSlots));
    if (steps != kSlots) at = std::min(at, (here + steps) << shift(wheel));
  }
  return at;
}

Cycle TimerWheel::earliest_of_first() const {
  const Cycle from = time_ + 1;
  const unsigned bit = static_cast<unsigned>(from % 64);
  unsigned word = static_cast<unsigned>(from % kFirstSlots) / 64;
  std::uint64_t ahead = occupied_[word] >> bit << bit;
  Cycle begins = from - bit;  // of the word
  for (unsigned n = 0; n <= kFirstSlots / 64; ++n, begins += 64) {
    if (ahead != 0) return begins + static_cast<unsigned>(__builtin_ctzll(ahead));
    word = (word + 1) % (kFirstSlots / 64);
    ahead = occupied_[word];
  }
  return kNever;
}

}  // namespace rnic
