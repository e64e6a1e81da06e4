// The chip's addresses on the network, and those of its neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"

namespace rnic {

struct Neighbour {
  wire::Ipv4Address ip;
  wire::MacAddress mac;
};

// The chip's own addresses and its static neighbour table.
struct LinkAddress {
  wire::MacAddress mac;
  wire::Ipv4Address ip;
  std::vector<Neighbour> neighbours;
  std::uint32_t node = 0;  // in a RequestId

  const wire::MacAddress* mac_of(wire::Ipv4Address peer) const {
    for (const Neighbour& n : neighbours) {
      if (n.ip == peer) return &n.mac;
    }
    return nullptr;
  }
};

}  // namespace rnic
