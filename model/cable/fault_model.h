// Decides on the faults of each frame in one direction: none, loss, delay, changed octets, a second copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "model/cable/cable_event.h"
#include "model/cable/fault_config.h"
#include "model/cable/intervals.h"
#include "model/common/buffer.h"
#include "model/common/prng.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// Chooses frames by chance, by count and by number.
class Pick {
 public:
  Pick(const PickConfig& config, const std::string& path, std::uint64_t seed)
      : ppm_(config.ppm), every_(config.every), frames_(config.frames, path + ".frames"), prng_(seed) {}
  // `number` counts from 1.
  bool picks(std::uint64_t number) {
    const bool by_chance = ppm_ != 0 && prng_.below(1'000'000) < ppm_;
    return by_chance || (every_ != 0 && number % every_ == 0) || frames_.contains(number);
  }
  bool never() const { return ppm_ == 0 && every_ == 0 && frames_.empty(); }
  Prng& prng() { return prng_; }

 private:
  const unsigned ppm_;
  const std::uint64_t every_;
  const Intervals frames_;
  Prng prng_;
};

class FaultModel {
 public:
  // Every kind of fault has its own random stream, so that adding one does not change the others. Throws ConfigError
  // that names the setting below `path`.
  FaultModel(const FaultConfig& config, const std::string& path, std::uint64_t seed);

  // Applies faults to a frame whose last octet leaves the sender at `ps`; `frame` and `ps` become those passed on. With
  // kTwice a copy follows at once. kTooLong: a router fragments the packet or reports its loss.
  enum class Fate : std::uint8_t { kLost, kTooLong, kOnce, kTwice };
  Fate pass(Frame& frame, std::uint64_t& ps);

  bool harmless() const;  // no frame will ever have a fault
  // Is told of each fault. `propagation_ps`: from the times above to the arrival at the other end.
  void tell(CableTap& tap, unsigned direction, std::uint64_t propagation_ps) {
    tap_ = &tap;
    direction_ = direction;
    propagation_ps_ = propagation_ps;
  }
  const FaultConfig& config() const { return config_; }
  void count_icmp() { ++counters_.icmp_sent; }
  void count_fragment() { ++counters_.fragments_sent; }
  const FaultCounters& counters() const { return counters_; }
  // How long the bottleneck has carried frames until now_ps; a sender may be ahead of that.
  std::uint64_t rate_busy_ps(std::uint64_t now_ps) const {
    const std::uint64_t until_ps = std::max(now_ps, line_busy_from_ps_);
    return rate_busy_ps_ - (line_free_ps_ > until_ps ? line_free_ps_ - until_ps : 0);
  }

 private:
  // The cause of a frame's loss: the setting, and its counter.
  struct Loss {
    const char* setting;
    std::uint64_t FaultCounters::*counter;
  };
  static const Loss kDown, kTooLong, kPicked, kInBurst;
  // nullptr if it is not lost.
  const Loss* loss(const Frame& frame, std::uint64_t ps);
  bool lost_in_burst();
  bool queued(const Frame& frame, std::uint64_t& ps);
  void corrupt(Frame& frame, std::uint64_t ps);
  void mark(Frame& frame, std::uint64_t ps);
  // By how much the frame is later than in order.
  std::uint64_t delay(std::uint64_t& ps);
  CableEvent event(CableEvent::Kind kind, const char* setting, const Frame& frame, std::uint64_t ps) const;
  void happened(const CableEvent& event) {
    if (tap_ != nullptr) tap_->happened(event);
  }

  const FaultConfig config_;
  Pick loss_, duplicate_, reorder_, corrupt_, corrupt_repaired_, mark_;
  Prng burst_, jitter_;
  const Intervals down_us_, slow_us_, short_us_;
  BufferPool copies_;
  bool in_burst_ = false;
  std::uint64_t line_free_ps_ = 0;       // of the bottleneck
  std::uint64_t line_busy_from_ps_ = 0;  // without a gap until line_free_ps_
  std::uint64_t rate_busy_ps_ = 0;       // total until line_free_ps_
  std::uint64_t newest_ps_ = 0;          // of a frame that was not reordered
  FaultCounters counters_;
  CableTap* tap_ = nullptr;
  unsigned direction_ = 0;
  std::uint64_t propagation_ps_ = 0;
};

}  // namespace rnic
