#include "model/trace/probe_wave.h"

namespace rnic {

ProbeWave::ProbeWave(Waves& waves, ClockDomain& clk, const std::vector<Probe>& probes) : waves_(waves), clk_(clk) {
  for (const Probe& probe : probes) {
    const WaveId id = waves.declare({probe.scope, probe.name, probe.width, probe.words, probe.unit, false});
    if (!id.dumped()) continue;
    if (probe.changes_after) timed_.push_back(shown_.size());
    shown_.push_back({probe, id});
  }
}

void ProbeWave::join() {
  if (shown_.empty()) return;
  watches_ = true;
  clk_.watch(this);
  for (Shown& s : shown_) {
    if (s.probe.watched) s.probe.watched(true);
    show(s, clk_.next());
  }
}

void ProbeWave::leave() {
  if (!watches_) return;
  watches_ = false;
  clk_.watch(nullptr);
  for (Shown& s : shown_) {
    s.known = false;
    if (s.probe.watched) s.probe.watched(false);
  }
}

// Shows values that changed without a call since the last cycle in which stages were called.
void ProbeWave::before(Cycle cycle) {
  for (const std::size_t i : timed_) {
    Shown& s = shown_[i];
    for (Cycle at = s.probe.changes_after(s.at); at <= cycle; at = s.probe.changes_after(at)) show(s, at);
  }
}

void ProbeWave::after(Cycle cycle) {
  for (Shown& s : shown_) show(s, s.probe.in_cycle ? cycle : cycle + 1);
}

void ProbeWave::show(Shown& s, Cycle at) {
  const std::uint64_t value = s.probe.read(at);
  s.at = at;
  if (s.known && s.value == value) return;
  s.known = true;
  s.value = value;
  waves_.change(s.id, at * clk_.period_ps(), value);
}

}  // namespace rnic
