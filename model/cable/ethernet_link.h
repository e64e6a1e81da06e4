// A point-to-point, full-duplex Ethernet cable. Captures observe it; fault injectors come before it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "model/cable/fault_config.h"
#include "model/config/field.h"
#include "model/rnic/boundary/ethernet_socket.h"

namespace rnic {

struct EthernetLinkConfig {
  std::uint64_t delay_ns = 500;
  FaultConfig forward{}, reverse{};  // from end 0 to end 1, and back
  bool symmetric = false;
  std::uint64_t seed = 0;
  template <class V>
  static void fields(V& v) {
    v("delay_ns", &EthernetLinkConfig::delay_ns, "propagation, both PHYs included", in_range(1, 1'000'000'000),
      unit("ns"));
    v.group("forward", &EthernetLinkConfig::forward);
    v.group("reverse", &EthernetLinkConfig::reverse);
    v("symmetric", &EthernetLinkConfig::symmetric, "the reverse direction has the faults of `forward`");
    v("seed", &EthernetLinkConfig::seed, "seed of random faults; 0: the run's seed");
  }
};

// Sees every frame when its last octet arrives; direction 0 is from end 0 to end 1.
struct FrameTap {
  virtual ~FrameTap() = default;
  virtual void frame(unsigned direction, const Frame& frame, std::uint64_t ps) = 0;
};

class EthernetLink final : public sc_core::sc_module {
 public:
  // Called for a frame in flight; false loses it. It may replace the frame: frames are shared, so copy before writing.
  using Impairment = std::function<bool(unsigned direction, Frame& frame)>;

  EthernetLink(sc_core::sc_module_name nm, const EthernetLinkConfig& config);

  // Joins a station's transmitter and receiver to end 0 or 1.
  void attach(unsigned end, EthernetInitiator& tx, EthernetTarget& rx);
  void tap(FrameTap& t) { taps_.push_back(&t); }
  void impair(Impairment impairment) { impairment_ = std::move(impairment); }

 private:
  struct Direction final : EthernetTarget {
    Direction(EthernetLink& l, unsigned n, const char* in_name, const char* out_name)
        : EthernetTarget(in_name), out(out_name), link(l), number(n) {}
    void on_frame(const Frame& frame, std::uint64_t at_ps) override { link.carry(*this, frame, at_ps); }
    EthernetInitiator out;
    EthernetLink& link;
    const unsigned number;
  };
  void carry(Direction& direction, Frame frame, std::uint64_t at_ps);

  const EthernetLinkConfig config_;
  std::array<std::unique_ptr<Direction>, 2> directions_;
  std::vector<FrameTap*> taps_;
  Impairment impairment_;
};

}  // namespace rnic
