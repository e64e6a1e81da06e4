// The events that a waveform waits for: those that --wave-on names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

struct Station;

// A waveform around a moment that only the run itself can tell.
struct WaveCondition {
  static constexpr std::uint64_t kUsualPs = 20'000'000;
  std::vector<std::string> on;           // retransmit, terminate, check-fail, qp=N or request=ID; the first one counts
  std::optional<std::uint64_t> ring_ps;  // this much before it, and of the end of a run that fails without it
  std::uint64_t for_ps = kUsualPs;       // and this much after it
  bool any() const { return !on.empty() || ring_ps.has_value(); }
};

class WaveTriggers final : public TraceSink {
 public:
  // ConfigError for an unknown one, naming the closest.
  WaveTriggers(const std::vector<std::string>& on, const std::vector<Station>& stations);

  void event(const TraceDomain& domain, const TraceEvent& event) override;

  // The earliest time at which one of them happened; empty before that.
  std::optional<std::uint64_t> fired_ps() const;
  // "retransmit and qp=3", those of that time.
  std::string fired() const;
  bool listens() const { return !triggers_.empty(); }
  bool on_failed_check() const { return on_failed_check_; }

 private:
  struct Trigger {
    std::string text;
    std::optional<TraceKind> kind;
    std::string node;  // of `qpn`; empty: any
    std::optional<std::uint32_t> qpn;
    RequestId request;
    std::optional<std::uint64_t> first_ps = {};
  };
  static Trigger parse(const std::string& text, const std::vector<Station>& stations);

  std::vector<Trigger> triggers_;
  bool on_failed_check_ = false;
};

}  // namespace rnic
