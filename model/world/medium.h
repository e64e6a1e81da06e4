// What joins devices: a cable, later a switch.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/part.h"
#include "model/common/timed.h"
#include "model/world/device.h"

namespace rnic {

// What a medium does may depend on stamps and port numbers alone, not on the order of calls: frames of one port come in
// the order of their stamps, frames of different ports in any order. What it delivers to one port has to come in the
// order of stamps, so a medium that merges frames of several ports has a clock: activate(K) may pass on all frames
// whose stamp at a port is before K plus the shortest way to it, as whatever leaves a device later leaves it at K or
// later.
class Medium : public Part {
 public:
  virtual ~Medium() = default;
  Medium() = default;
  Medium(const Medium&) = delete;
  Medium& operator=(const Medium&) = delete;

  virtual unsigned ports() const = 0;
  // Each port once, before the simulation.
  virtual void join(unsigned port, EthernetPort device) = 0;
  // From the first octet that leaves a device at `from` to the stamp of its arrival at `to`, at the least; kNever where
  // nothing goes that way.
  virtual std::uint64_t lookahead_ps(unsigned from, unsigned to) const = 0;
  // Called before those of devices where times are equal. A cable has none: it adds its delay to a stamp.
  virtual std::vector<Timed*> clocks() { return {}; }
};

}  // namespace rnic
