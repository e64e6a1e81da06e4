#include "model/rnic/llp/transmit_memory.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/description.h"
#include "model/common/memory.h"

namespace rnic::llp {

TransmitMemory::TransmitMemory(ClockDomain& clk, const TransmitMemoryConfig& config, FlowId first, std::size_t flows)
    : clk_(clk),
      whole_{config.octets, config.segments},
      half_{config.octets / 2, config.segments / 2},
      first_(first.v),
      held_(flows),
      in_share_(0),
      beyond_share_(0) {
  update_short();
}

void TransmitMemory::reset() {
  used_ = {};
  held_.assign(held_.size(), {});
  flows_ = 0;
  waits_.clear();
  in_share_ = beyond_share_ = IdQueue<FlowId>(0);
  waiting_ = waiting_in_share_ = called_ = 0;
  may_call_ = false;
  changes_.clear();
  update_short();
  show(used_);
}

// ---- Who gets room

// Half of the memory in equal parts, one for each open flow and one for the next one. What a flow has beyond its part
// is of the other half, so no flow has to wait for a part that is large enough for its segment.
bool TransmitMemory::in_share(const Amount& held, std::uint32_t octets) const {
  if (held.segments == 0) return true;
  const std::uint64_t parts = 2 * (std::uint64_t{flows_} + 1);
  return (std::uint64_t{held.octets} + octets) * parts <= whole_.octets &&
         (std::uint64_t{held.segments} + 1) * parts <= whole_.segments;
}

// Flows within their share pass those beyond it, which get what is left of one half.
bool TransmitMemory::admits_when_short(FlowId flow, std::uint32_t octets) const {
  const std::uint32_t i = flow.v - first_;
  if (called_ != 0 && waits_[i].place == Place::kCalled) {
    const std::uint32_t promised = waits_[i].octets;
    return octets <= promised || std::uint64_t{used_.octets} - promised + octets <= whole_.octets;
  }
  if (waiting_ == 0 && fits(octets, half_)) return true;
  return in_share(held_[i], octets) && waiting_in_share_ == 0 && fits(octets, whole_);
}

// ---- Who waits

void TransmitMemory::wait(FlowId flow, Qpn qpn, std::uint32_t octets) {
  if (waits_.empty()) {
    waits_.resize(held_.size());
    in_share_ = beyond_share_ = IdQueue<FlowId>(held_.size());
  }
  cancel(flow);
  const FlowId i{flow.v - first_};
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

// A flow that moved to the other queue is still in this one.
std::optional<TransmitMemory::Called> TransmitMemory::call() {
  may_call_ = false;
  for (const Place place : {Place::kInShare, Place::kBeyondShare}) {
    const bool share = place == Place::kInShare;
    IdQueue<FlowId>& queue = share ? in_share_ : beyond_share_;
    while (!queue.empty()) {
      const FlowId i = queue.front();
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
      return Called{FlowId{first_ + i.v}, w.qpn};
    }
  }
  return std::nullopt;
}

void TransmitMemory::cancel(FlowId flow) {
  if (called_ == 0 || waits_[flow.v - first_].place != Place::kCalled) return;
  Wait& w = waits_[flow.v - first_];
  w.place = Place::kNone;
  --called_;
  add(held_[flow.v - first_], 0 - w.octets, 0 - 1u);
  update_short();
  may_call_ = waiting_ != 0;
}

// ---- At the end of a cycle with changes

void TransmitMemory::commit() {
  const Amount before = used_;
  for (const Change& c : changes_) {
    Amount& held = held_[c.flow];
    add(held, static_cast<std::uint32_t>(c.octets), static_cast<std::uint32_t>(c.segments));
    flows_ += static_cast<std::uint32_t>(c.flows);
    RNIC_CHECK_MSG(static_cast<std::int32_t>(held.octets) >= 0 && static_cast<std::int32_t>(held.segments) >= 0,
                   "flow " + std::to_string(first_ + c.flow) + " gives back more than it holds");
  }
  update_short();
  show(before);
  if (waiting_ != 0) {
    move_to_share();
    may_call_ = true;
    segmenter_->wake(clk_.now() + 1);
  }
  changes_.clear();
}

// Those of the flows that hold less now: with nothing left, a flow waits for the others alone. In the order of their
// numbers, in whatever order stages were called.
void TransmitMemory::move_to_share() {
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.flow < b.flow; });
  for (const Change& c : changes_) {
    Wait& w = waits_[c.flow];
    if (w.place != Place::kBeyondShare || !in_share(held_[c.flow], w.octets)) continue;
    w.place = Place::kInShare;
    ++waiting_in_share_;
    in_share_.push(FlowId{c.flow});
  }
}

void TransmitMemory::describe(const Description& d) {
  d.counters(counters_);
  const auto level = [&](const char* key, auto read, const char* unit, const char* text) {
    d.stats().derived(
        key, [read] { return static_cast<double>(read()); }, unit, text);
  };
  describe_memory(d.part("kept").stats(),
                  {whole_.octets, whole_.octets, 8, "octets", "octets until they are acknowledged"},
                  counters_.octets_max);
  level(
      "segments", [this] { return whole_.segments; }, "segments", "its records");
  level(
      "octets_used", [this] { return used_.octets; }, "octets", "taken at the end of the run");
  level(
      "segments_used", [this] { return used_.segments; }, "segments", "records taken at the end of the run");
}

}  // namespace rnic::llp
