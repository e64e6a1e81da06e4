// One clock, one kernel process: the domain calls the stages that are awake in a cycle and sleeps in the kernel
// while none is. See clock_domain.md for the rules that make this exact.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "model/common/check.h"
#include "model/common/cycle.h"
#include "model/common/timed.h"

namespace rnic {

class Committed;
class Description;
class LinkBase;
class Stage;

// The result of tick(): when the stage wants to be called next, regardless of its links.
struct Wake {
  Cycle at;  // kNever: only when a link has something new; 0: the next cycle
  static constexpr Wake on_traffic() { return {kNever}; }
  static constexpr Wake next_cycle() { return {0}; }
  static constexpr Wake at_cycle(Cycle c) { return {c}; }
};

// What the calendar calls: a stage, or the twin that replaces it.
class Clocked {
 public:
  // One cycle. Called when a link has something new for the stage (a beat became visible, a credit came back) or at
  // the cycle that the last call asked for; a call with nothing to do must change nothing.
  virtual Wake tick() = 0;
  // Resets the stage to its state before its first cycle, between two cycles. Statistics keep their values; links are
  // reset separately.
  virtual void reset() = 0;

 protected:
  ~Clocked() = default;
};

// Reads the state of stages without taking part: probes of a waveform.
class CycleWatcher {
 public:
  // The cycle comes next, and nothing was called since the one before it.
  virtual void before(Cycle cycle) = 0;
  // All its stages have been called, and Committed state is visible.
  virtual void after(Cycle cycle) = 0;

 protected:
  ~CycleWatcher() = default;
};

struct ClockDomainConfig {
  std::uint64_t period_ps = 4000;  // 250 MHz
  // How far a domain may run ahead of the kernel: no more than the shortest latency of anything that enters the domain
  // from outside (Ethernet, PCIe, another clock). 1 is always correct, and slow.
  Cycle lookahead_cycles = 1;
  bool run_ahead = true;  // see clock_domain.md; the same results, except for counters of a chip reset during traffic
                          // (rnic.md)
};

class ClockDomain final : public sc_core::sc_module, public Timed {
 public:
  static constexpr unsigned kMaxStages = 64;  // one bit each in a wake-up mask
  static constexpr Cycle kNearCycles = 64;    // the wheel; link latencies are shorter than this

  ClockDomain(sc_core::sc_module_name name, const ClockDomainConfig& config);

  Cycle now() const { return now_; }
  // The first cycle that is still to come, between calls by the kernel.
  Cycle next() const { return std::max(next_, cycle_at_or_after(sc_core::sc_time_stamp().value())); }
  std::uint64_t now_ps() const { return now_ * config_.period_ps; }
  std::uint64_t period_ps() const { return config_.period_ps; }
  // The first edge at or after a time.
  Cycle cycle_at_or_after(std::uint64_t ps) const { return (ps + config_.period_ps - 1) / config_.period_ps; }
  // May be lowered or raised until the simulation starts, when all boundary latencies are known.
  void set_lookahead(Cycle cycles) {
    RNIC_CHECK(cycles >= 1);
    config_.lookahead_cycles = cycles;
  }
  Cycle lookahead() const { return config_.lookahead_cycles; }
  // Between calls by the kernel. Beats already moved ahead stay where they are.
  void set_run_ahead(bool on) { config_.run_ahead = on; }
  bool runs_ahead() const { return config_.run_ahead; }

  // Between calls by the kernel; nullptr: no watcher.
  void watch(CycleWatcher* watcher) { watcher_ = watcher; }

  // Calls a stage's tick() in the given cycle, which must not have been executed yet. Several wake-ups in one cycle
  // are one call.
  void wake(unsigned stage, Cycle at) {
    if (at - next_ < kNearCycles) mark(std::uint64_t{1} << stage, at);
    else wake_later(stage, at);
    if (at < armed_for_) arm(at);
  }

  // commit() is called after all stages of this cycle. If it registers again, that is for the next cycle, which is
  // executed even if no stage is called in it.
  void commit_later(Committed& state) { commits_.push_back(&state); }

  // With sanitizers, for checks: whether a stage's tick() is under way; whether the code that runs is this stage's (or
  // its twin's), or no stage's.
  bool is_calling() const { return called_ != kMaxStages; }
  bool may_be_called(const Stage& stage) const;

  // Calls stages in a new random order in each cycle. Nothing may depend on the order, so nothing may change.
  void shuffle(std::uint64_t seed) { shuffle_state_ = seed | 1; }

  // Figures of the calendar itself: the cost of idle and of busy cycles.
  struct Activity {
    std::uint64_t activations = 0;    // calls of the domain
    std::uint64_t kernel_events = 0;  // those by the kernel; the others by a ClockGroup
    std::uint64_t cycles = 0;         // cycles in which a stage was called, or a commit() alone
    std::uint64_t ticks = 0;          // stage calls
  };
  const Activity& activity() const { return activity_; }
  void describe(const Description& d) const;

  // Resets the stage and its replacement at the end of a cycle, and calls it in the next one.
  void reset(Stage& stage);

  // Stages and links in the order of their construction, for reports.
  const std::vector<Stage*>& stages() const { return stages_; }
  const std::vector<LinkBase*>& links() const { return links_; }

 private:
  friend class LinkBase;
  friend class Stage;
  std::uint64_t armed_ps() const override { return armed_for_ == kNever ? kNever : armed_for_ * config_.period_ps; }
  // Executes cycles from the requested one, at time `ps`, up to the lookahead.
  void activate(std::uint64_t ps, bool by_kernel) override;
  void join(ClockGroup& group) override;
  unsigned add(Stage& stage);
  void add(LinkBase& link) { links_.push_back(&link); }
  void remove(LinkBase& link) { links_.erase(std::find(links_.begin(), links_.end(), &link)); }
  void run();
  std::uint64_t run_cycle(Cycle cycle, std::uint64_t mask);
  std::uint64_t run_watched(Cycle cycle, std::uint64_t mask);
  template <std::uint64_t (ClockDomain::*run_one)(Cycle, std::uint64_t)>
  Cycle run_until(Cycle limit);
  Cycle next_wake() const;
  Cycle next_later() const;
  std::uint64_t take_wakes(Cycle cycle);
  std::uint64_t take_later(Cycle cycle);
  bool tick(unsigned stage);
  void commit();
  unsigned pick(std::uint64_t mask);
  void mark(std::uint64_t stages, Cycle at) {
    wheel_[at % kNearCycles] |= stages;
    occupied_ |= std::uint64_t{1} << (at % kNearCycles);
  }
  void wake_later(unsigned stage, Cycle at);
  void arm(Cycle at);

  struct Far {
    Cycle at;
    unsigned stage;
    bool operator>(const Far& o) const { return at > o.at; }
  };

  ClockDomainConfig config_;
  Cycle now_ = 0;                                   // the cycle being executed, or the last one that was
  Cycle next_ = 0;                                  // the first cycle not executed yet
  std::uint64_t occupied_ = 0;                      // wheel slots that are not empty
  std::array<std::uint64_t, kNearCycles> wheel_{};  // masks of stages, by cycle modulo the wheel
  std::array<Cycle, kMaxStages> timer_{};           // what each of timed_ last requested beyond the wheel
  std::uint64_t timed_ = 0;                         // stages
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
  Cycle later_ = kNever;  // no timer is earlier, nor what is in far_
  std::vector<Stage*> stages_;
  std::vector<LinkBase*> links_;
  std::array<Clocked*, kMaxStages> clocked_{};  // by stage
  std::vector<Committed*> commits_;
  std::uint64_t shuffle_state_ = 0;
  unsigned called_ = kMaxStages;  // with sanitizers: the stage whose tick() is under way, or none
  CycleWatcher* watcher_ = nullptr;
  Cycle armed_for_ = kNever;  // when the kernel or the group will call; 0 while it does
  sc_core::sc_event event_;
  Activity activity_;
};

}  // namespace rnic
