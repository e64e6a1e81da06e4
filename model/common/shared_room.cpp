#include "model/common/shared_room.h"

#include <algorithm>
#include <string>

#include "model/common/check.h"

namespace rnic {

template <class Id>
SharedRoom<Id>::SharedRoom(ClockDomain& clk, const Amount& whole, Id first, std::size_t ids, std::uint32_t largest,
                           Sharers sharers, SharedRoomCounters& counters)
    : clk_(clk),
      whole_(whole),
      half_{whole.octets / 2, whole.records / 2},
      first_(first.v),
      largest_(largest),
      shares_(sharers),
      held_(ids),
      in_share_(0),
      beyond_share_(0),
      counters_(counters) {
  update_short();
}

template <class Id>
void SharedRoom<Id>::reset() {
  used_ = {};
  held_.assign(held_.size(), {});
  sharers_ = 0;
  waits_.clear();
  in_share_ = beyond_share_ = IdQueue<Id>(0);
  waiting_ = waiting_in_share_ = called_ = 0;
  may_call_ = false;
  changes_.clear();
  update_short();
  show(used_);
}

// ---- Who gets room

// Half of the memory in equal parts, one for each sharer and one for the next one. What somebody has beyond his part is
// of the other half, so nobody has to wait for a part that is large enough for his record.
template <class Id>
bool SharedRoom<Id>::in_share(const Amount& held, std::uint32_t octets) const {
  if (held.records == 0) return true;
  const std::uint64_t parts = 2 * (std::uint64_t{sharers_} + 1);
  return (std::uint64_t{held.octets} + octets) * parts <= whole_.octets &&
         (std::uint64_t{held.records} + 1) * parts <= whole_.records;
}

// Those within their parts pass those beyond them, who get what is left of one half.
template <class Id>
bool SharedRoom<Id>::admits_when_short(Id id, std::uint32_t octets) const {
  const std::uint32_t i = id.v - first_;
  if (called_ != 0 && waits_[i].place == Place::kCalled) {
    const std::uint32_t promised = waits_[i].octets;
    return octets <= promised || std::uint64_t{used_.octets} - promised + octets <= whole_.octets;
  }
  if (waiting_ == 0 && fits(octets, half_)) return true;
  return in_share(held_[i], octets) && waiting_in_share_ == 0 && fits(octets, whole_);
}

// ---- Who waits

template <class Id>
void SharedRoom<Id>::wait(Id id, Qpn qpn, std::uint32_t octets) {
  if (waits_.empty()) {
    waits_.resize(held_.size());
    in_share_ = beyond_share_ = IdQueue<Id>(held_.size());
  }
  cancel(id);
  const Id i{id.v - first_};
  Wait& w = waits_[i.v];
  w.qpn = qpn;
  w.octets = octets;
  if (w.place == Place::kNone) {
    w.since = clk_.now();
    ++waiting_;
    is_short_ = true;
    ++counters_.waits;
  }
  if (w.place == Place::kInShare) return;
  const bool share = in_share(held_[i.v], octets);
  w.place = share ? Place::kInShare : Place::kBeyondShare;
  waiting_in_share_ += share;
  (share ? in_share_ : beyond_share_).push(i);
}

// One that moved to the other queue is still in this one.
template <class Id>
std::optional<typename SharedRoom<Id>::Called> SharedRoom<Id>::call() {
  may_call_ = false;
  for (const Place place : {Place::kInShare, Place::kBeyondShare}) {
    const bool share = place == Place::kInShare;
    IdQueue<Id>& queue = share ? in_share_ : beyond_share_;
    while (!queue.empty()) {
      const Id i = queue.front();
      Wait& w = waits_[i.v];
      if (w.place == place && !fits(w.octets, share ? whole_ : half_)) return std::nullopt;
      queue.pop();
      if (w.place != place) continue;
      w.place = Place::kCalled;
      ++called_;
      --waiting_;
      waiting_in_share_ -= share;
      counters_.wait_cycles += clk_.now() - w.since;
      add(held_[i.v], w.octets, 1);
      update_short();
      show(used_);
      may_call_ = waiting_ != 0;
      return Called{Id{first_ + i.v}, w.qpn};
    }
  }
  return std::nullopt;
}

template <class Id>
void SharedRoom<Id>::cancel_call(Id id) {
  if (waits_[id.v - first_].place != Place::kCalled) return;
  Wait& w = waits_[id.v - first_];
  w.place = Place::kNone;
  --called_;
  add(held_[id.v - first_], 0 - w.octets, 0 - 1u);
  update_short();
  may_call_ = waiting_ != 0;
}

// ---- At the end of a cycle with changes

template <class Id>
void SharedRoom<Id>::commit() {
  const Amount before = used_;
  for (const Change& c : changes_) {
    Amount& held = held_[c.index];
    add(held, static_cast<std::uint32_t>(c.octets), static_cast<std::uint32_t>(c.records));
    sharers_ += static_cast<std::uint32_t>(c.sharers);
    RNIC_CHECK_MSG(static_cast<std::int32_t>(held.octets) >= 0 && static_cast<std::int32_t>(held.records) >= 0,
                   "number " + std::to_string(first_ + c.index) + " gives back more than it holds");
  }
  update_short();
  show(before);
  if (waiting_ != 0) {
    move_to_share();
    may_call_ = true;
    stage_->wake(clk_.now() + 1);
  }
  changes_.clear();
}

// Of those that hold less now: with nothing left, one waits for the others alone. In the order of their numbers, in
// whatever order stages were called.
template <class Id>
void SharedRoom<Id>::move_to_share() {
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.index < b.index; });
  for (const Change& c : changes_) {
    Wait& w = waits_[c.index];
    if (w.place != Place::kBeyondShare || !in_share(held_[c.index], w.octets)) continue;
    w.place = Place::kInShare;
    ++waiting_in_share_;
    in_share_.push(Id{c.index});
  }
}

template class SharedRoom<FlowId>;
template class SharedRoom<Qpn>;
template class SharedRoom<RingId>;

}  // namespace rnic
