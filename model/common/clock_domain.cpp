#include "model/common/clock_domain.h"

#include <algorithm>

#include "model/common/clock_group.h"
#include "model/common/description.h"
#include "model/common/kernel_time.h"
#include "model/common/registered.h"

namespace rnic {

ClockDomain::ClockDomain(sc_core::sc_module_name name, const ClockDomainConfig& config)
    : sc_module(name), config_(config), event_("wake") {
  RNIC_CHECK(config.period_ps >= 1);
  SC_HAS_PROCESS(ClockDomain);
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

unsigned ClockDomain::add(Stage& stage) {
  RNIC_CHECK_MSG(stages_.size() < kMaxStages, std::string(name()) + " has more than 64 stages");
  stages_.push_back(&stage);
  clocked_[stages_.size() - 1] = &stage;
  return static_cast<unsigned>(stages_.size() - 1);
}

// Sleeps in the kernel until the given cycle's edge, or not at all if that time has come.
void ClockDomain::arm(Cycle at) {
  armed_for_ = at;
  const std::uint64_t at_ps = at * config_.period_ps, kernel_ps = kernel_time_ps();
  if (group() != nullptr) return group()->arm(at_ps);
  event_.cancel();
  // A zero delay still goes through the kernel, so that everything else at this instant comes first.
  event_.notify(sc_core::sc_time::from_value(at_ps > kernel_ps ? at_ps - kernel_ps : 0));
}

void ClockDomain::join(ClockGroup& group) {
  Timed::join(group);
  event_.cancel();
}

void ClockDomain::wake_later(unsigned stage, Cycle at) {
  RNIC_CHECK(at >= next_);
  far_.push({at, stage});
  later_ = std::min(later_, at);
}

// By far the most common answer is the next cycle.
inline Cycle ClockDomain::next_wake() const {
  const unsigned from = static_cast<unsigned>(next_ % kNearCycles);
  if (wheel_[from] != 0) return next_;
  if (occupied_ == 0) return later_;
  const std::uint64_t rotated = occupied_ >> from | occupied_ << (-from % kNearCycles);
  return std::min(later_, next_ + static_cast<Cycle>(__builtin_ctzll(rotated)));
}

Cycle ClockDomain::next_later() const {
  Cycle at = far_.empty() ? kNever : far_.top().at;
  for (std::uint64_t left = timed_; left != 0; left &= left - 1) at = std::min(at, timer_[__builtin_ctzll(left)]);
  return at;
}

// The stages to call in this cycle, taken out of wheel, timers and far wake-ups.
inline std::uint64_t ClockDomain::take_wakes(Cycle cycle) {
  const unsigned slot = static_cast<unsigned>(cycle % kNearCycles);
  std::uint64_t mask = wheel_[slot];
  wheel_[slot] = 0;
  occupied_ &= ~(std::uint64_t{1} << slot);
  if (later_ <= cycle) mask |= take_later(cycle);
  return mask;
}

std::uint64_t ClockDomain::take_later(Cycle cycle) {
  std::uint64_t mask = 0;
  for (; !far_.empty() && far_.top().at == cycle; far_.pop()) mask |= std::uint64_t{1} << far_.top().stage;
  for (std::uint64_t left = timed_; left != 0; left &= left - 1) {
    if (timer_[__builtin_ctzll(left)] == cycle) mask |= left & -left;
  }
  timed_ &= ~mask;
  later_ = next_later();
  return mask;
}

// Returns whether the stage wants to be called in the next cycle, by far the most common answer.
inline bool ClockDomain::tick(unsigned stage) {
  timed_ &= ~(std::uint64_t{1} << stage);
  const Cycle at = clocked_[stage]->tick().at;
  if (at == 0) return true;
  if (at == kNever) return false;
  if (at - next_ < kNearCycles) {
    mark(std::uint64_t{1} << stage, at);
  } else {
    RNIC_CHECK(at > next_);
    timer_[stage] = at;
    timed_ |= std::uint64_t{1} << stage;
    later_ = std::min(later_, at);
  }
  return false;
}

// One of the stages in the mask, drawn at random.
unsigned ClockDomain::pick(std::uint64_t mask) {
  shuffle_state_ = shuffle_state_ * 6364136223846793005u + 1442695040888963407u;
  unsigned skip = static_cast<unsigned>((shuffle_state_ >> 33) % static_cast<unsigned>(__builtin_popcountll(mask)));
  while (skip-- > 0) mask &= mask - 1;
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

// `mask`: the stages that wanted this cycle in the one before. Returns those that want the next one.
inline std::uint64_t ClockDomain::run_cycle(Cycle cycle, std::uint64_t mask) {
  mask |= take_wakes(cycle);
  std::uint64_t again = 0;
  now_ = cycle;
  next_ = cycle + 1;
  ++activity_.cycles;
  while (mask != 0) {
    const unsigned stage = shuffle_state_ == 0 ? static_cast<unsigned>(__builtin_ctzll(mask)) : pick(mask);
    const std::uint64_t bit = std::uint64_t{1} << stage;
    mask ^= bit;
    ++activity_.ticks;
    if constexpr (kSanitized) called_ = stage;
    if (tick(stage)) again |= bit;
  }
  if constexpr (kSanitized) called_ = kMaxStages;
  if (!commits_.empty()) commit();
  return again;
}

// A cycle without stages is a slot of the wheel that is occupied by none.
void ClockDomain::commit() {
  const std::size_t count = commits_.size();
  for (std::size_t i = 0; i < count; ++i) commits_[i]->commit();
  if (commits_.size() == count) return commits_.clear();
  commits_.erase(commits_.begin(), commits_.begin() + static_cast<std::ptrdiff_t>(count));
  mark(0, next_);
}

bool ClockDomain::may_be_called(const Stage& stage) const { return !is_calling() || called_ == stage.index_; }

void ClockDomain::reset(Stage& stage) {
  stage.reset();
  Clocked* const standing_in = clocked_[stage.index_];
  if (standing_in != &stage) standing_in->reset();
  stage.wake(next_);
}

void Stage::end_of_elaboration() {
  for (const PortBase* port : ports_) {
    RNIC_CHECK_MSG(port->bound(), std::string(name()) + "." + port->name() + " is not bound");
  }
}

// Separate, so that it costs nothing without watchers.
[[gnu::noinline]] std::uint64_t ClockDomain::run_watched(Cycle cycle, std::uint64_t mask) {
  watcher_->before(cycle);
  const std::uint64_t again = run_cycle(cycle, mask);
  watcher_->after(cycle);
  return again;
}

// Returns the first later cycle in which a stage wants to be called.
template <std::uint64_t (ClockDomain::*run_one)(Cycle, std::uint64_t)>
inline Cycle ClockDomain::run_until(Cycle limit) {
  std::uint64_t again = 0;
  Cycle cycle = next_wake();
  for (; cycle < limit; cycle = again != 0 ? next_ : next_wake()) again = (this->*run_one)(cycle, again);
  if (again != 0) mark(again, next_);
  return cycle;
}

void ClockDomain::run() { activate(kernel_time_ps(), true); }

void ClockDomain::activate(std::uint64_t ps, bool by_kernel) {
  ++activity_.activations;
  activity_.kernel_events += by_kernel;
  armed_for_ = 0;
  const Cycle limit = ps / config_.period_ps + config_.lookahead_cycles;
  Cycle cycle =
      watcher_ == nullptr ? run_until<&ClockDomain::run_cycle>(limit) : run_until<&ClockDomain::run_watched>(limit);
  armed_for_ = kNever;
  if (cycle == later_ && cycle != kNever) {
    // The stage that asked for this may have been called earlier and have changed its mind.
    later_ = next_later();
    cycle = next_wake();
  }
  if (cycle != kNever) arm(cycle);
}

void ClockDomain::describe(const Description& d) const {
  const auto add = [&](const char* key, auto member, const char* unit, const char* text) {
    d.stats().sum(
        key, [this, member] { return static_cast<double>(activity_.*member); }, unit, text);
  };
  add("kernel_events", &Activity::kernel_events, "events", "calls of this clock by the kernel");
  add("busy_cycles", &Activity::cycles, "cycles",
      "cycles in which a stage was called, or asks for a table were granted alone");
  add("stage_calls", &Activity::ticks, "calls", "calls of stages");
}

}  // namespace rnic
