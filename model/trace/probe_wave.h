// Draws probes of a clock's stages in the waveform: the value of each in every cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/probe.h"
#include "model/trace/waves.h"

namespace rnic {

// A register's value is that after the edge at which the cycle begins: a decision of a stage in cycle n shows from
// (n + 1) periods on, like a link's `valid`. Costs nothing while it does not watch.
class ProbeWave final : private CycleWatcher {
 public:
  // Shows the probes whose scopes are dumped. They read stages of this clock.
  ProbeWave(Waves& waves, ClockDomain& clk, const std::vector<Probe>& probes);
  ~ProbeWave() { leave(); }
  ProbeWave(const ProbeWave&) = delete;
  ProbeWave& operator=(const ProbeWave&) = delete;

  // join() watches from the next cycle on. Call both while the kernel is stopped.
  void join();
  void leave();
  // Passes all changes before the next cycle to the waveform.
  void settle() {
    if (watches_) before(clk_.next());
  }

 private:
  struct Shown {
    Probe probe;
    WaveId id;
    Cycle at = 0;  // of the value
    bool known = false;
    std::uint64_t value = 0;
  };
  void before(Cycle cycle) override;
  void after(Cycle cycle) override;
  void show(Shown& shown, Cycle at);

  Waves& waves_;
  ClockDomain& clk_;
  std::vector<Shown> shown_;
  std::vector<std::size_t> timed_;  // indexes in shown_ of probes that change without a call
  bool watches_ = false;
};

}  // namespace rnic
