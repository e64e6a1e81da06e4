// Probes of a clock's stages in the waveform: the value of each in every cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/probe.h"
#include "model/trace/waves.h"

namespace rnic {

// A register's value is that after the edge at which the cycle begins: what a stage decides in cycle n shows from
// (n + 1) periods on, as the `valid` of a link does. While this does not watch, it costs nothing.
class ProbeWave final : private CycleWatcher {
 public:
  // Those probes whose scopes are dumped. They read stages of this clock.
  ProbeWave(Waves& waves, ClockDomain& clk, const std::vector<Probe>& probes);
  ~ProbeWave() { leave(); }
  ProbeWave(const ProbeWave&) = delete;
  ProbeWave& operator=(const ProbeWave&) = delete;

  // Watches from the next cycle on. Both while the kernel stands.
  void join();
  void leave();
  // The waveform knows all changes before the next cycle.
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
  std::vector<std::size_t> timed_;  // of shown_: those that change without a call
  bool watches_ = false;
};

}  // namespace rnic
