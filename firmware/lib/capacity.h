// The chip's settings for the firmware, and whether the firmware can run such a chip.
#pragma once

#include <cstdint>

#include "firmware/lib/default_capacity.h"
#include "model/abi/host_abi.h"

namespace rnic::fw {

// The chip's resources and its owner's choices, read once at boot.
struct Settings {
  std::uint32_t qps = 0, flows = 0, cqs = 0, stags = 0;
  std::uint16_t max_ird = 32, max_ord = 32;
  // How long to wait for the peer (RFC 5044 section 7.1.2 rules 8 and 10).
  std::uint32_t request_timeout_us = 10'000'000, reply_timeout_us = 5'000'000;
  std::uint32_t first_fpdu_timeout_us = 5'000'000;  // for the RTR message of a peer-to-peer connection
  std::uint32_t close_timeout_us = 5'000'000;       // for the send queue to drain, and then for the peer's FIN
  std::uint32_t srqs = 0;
  std::uint32_t pages = 0;        // entries of the chip's page table
  std::uint32_t home_pages = 0;   // of the contexts' home in host memory; 0: the chip needs none
  std::uint32_t homed_kinds = 0;  // bit n: contexts of abi::ContextKind n are not all on the chip
  bool extensions = true;         // QPs support the messages of RFC 7306
  abi::Personality personality = abi::Personality::kIetf;
  bool receive_markers = false;  // the device prefers them
  bool crc = true;               // requested on every stream
  // Limits on simultaneous connections, and on those in setup; 0: the firmware's capacity.
  std::uint32_t connections = 0, setups = 0;
};

// A capacity's numbers, for the chip around the firmware.
struct Room {
  std::uint32_t qps, flows, cqs, srqs, stags, connections, setups;
};
template <class Capacity>
constexpr Room room_of() {
  return {Capacity::kQps,   Capacity::kFlows,       Capacity::kCqs,   Capacity::kSrqs,
          Capacity::kStags, Capacity::kConnections, Capacity::kSetups};
}

// Whether firmware of this capacity can run such a chip.
template <class Capacity>
constexpr bool fits(const Settings& s) {
  return s.qps <= Capacity::kQps && s.flows <= Capacity::kFlows && s.cqs <= Capacity::kCqs &&
         s.stags <= Capacity::kStags && s.srqs <= Capacity::kSrqs && s.connections <= Capacity::kConnections &&
         s.setups <= Capacity::kSetups;
}

// Whether native firmware may be of the default capacity: a program may listen at a port for each QP.
constexpr bool fits_small(const Settings& s) {
  return fits<DefaultCapacity>(s) && s.qps <= DefaultCapacity::kListeners;
}

}  // namespace rnic::fw
