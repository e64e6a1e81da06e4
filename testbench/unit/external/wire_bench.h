// The cable's side of a wire's end: sends frames at given times, and keeps those that arrive.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "model/external/external_peer.h"

namespace rnic::external::test {

using Bytes = std::vector<std::uint8_t>;
using Timed = std::vector<std::pair<std::uint64_t, Bytes>>;

inline std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

// Set `peer` before simulated time advances.
class WireBench final : public sc_core::sc_module, private EthernetTarget {
 public:
  explicit WireBench(sc_core::sc_module_name nm) : sc_module(nm), EthernetTarget("cable_in") {
    const EthernetPort port = wire.ports()[0];
    cable_out_.socket.bind(port.in.socket);
    port.out.socket.bind(EthernetTarget::socket);
  }
  // Its last octet arrives at the wire's end at this time.
  void send(const Bytes& octets, std::uint64_t at_ps) {
    Frame f{pool_.take(), 0, static_cast<std::uint32_t>(octets.size()), true};
    std::copy(octets.begin(), octets.end(), f.buf->bytes());
    cable_out_.send(std::move(f), at_ps);
  }
  WireEnd wire{"wire", [this](ByteSpan frame) { peer->deliver(frame); }};
  ExternalPeer* peer = nullptr;
  Timed seen;  // frames from the peer

 private:
  void on_frame(const Frame& f, std::uint64_t at_ps) override {
    seen.emplace_back(at_ps, Bytes(f.data(), f.data() + f.bytes));
  }
  BufferPool pool_{2048};
  EthernetInitiator cable_out_{"cable_out"};
};

}  // namespace rnic::external::test
