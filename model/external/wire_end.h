// The simulation's side of the wire to an external peer: a device on the cable that passes frames out at their time and
// injects the peer's frames.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/world/device.h"

namespace rnic::external {

class WireEnd final : public sc_core::sc_module, public Device, private EthernetTarget {
 public:
  // `take` is called in the kernel when a frame has arrived, at a whole nanosecond, the resolution of peers.
  using Take = std::function<void(ByteSpan frame)>;
  WireEnd(sc_core::sc_module_name nm, Take take);

  std::vector<EthernetPort> ports() override { return {{transmitter_, *this}}; }
  // Sends a frame of the peer, whose last octet leaves it now. A frame that is too long is lost.
  void inject(ByteSpan frame);

 private:
  void on_frame(const Frame& frame, std::uint64_t at_ps) override;
  void hand_out();
  void arm();

  struct Arrival {
    std::uint64_t ps, number;
    Frame frame;
    bool operator>(const Arrival& o) const { return ps != o.ps ? ps > o.ps : number > o.number; }
  };
  EthernetInitiator transmitter_{"transmitter"};
  const Take take_;
  BufferPool buffers_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t numbers_ = 0;
  sc_core::sc_event event_;
};

}  // namespace rnic::external
