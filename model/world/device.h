// What a world is made of: a machine with its chip, a peer outside of the simulation, a capture's replay, a source of
// traffic. It has Ethernet ports, and clocks if it computes in time of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/part.h"
#include "model/common/timed.h"
#include "model/rnic/boundary/ethernet_socket.h"

namespace rnic {

// Both directions of one port.
struct EthernetPort {
  EthernetInitiator& out;
  EthernetTarget& in;
};

class Device : public Part {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // By number.
  virtual std::vector<EthernetPort> ports() = 0;
  // In the order of their calls where times are equal. Without one the device lives in the kernel's time.
  virtual std::vector<Timed*> clocks() { return {}; }
  // Nothing arrives at a port sooner than that after its cause left any port of the medium: the device may run ahead
  // of the kernel by as much. Called before the simulation, once for each port that is joined.
  virtual void set_lookahead(unsigned /*port*/, std::uint64_t /*ps*/) {}
};

}  // namespace rnic
