// The firmware's configuration by its chip, and whether it can run it.
#pragma once

#include <cstdint>

#include "firmware/lib/default_capacity.h"
#include "model/abi/host_abi.h"

namespace rnic::fw {

// What the chip has and what its owner wants, read once at boot.
struct Settings {
  std::uint32_t qps = 0, flows = 0, cqs = 0, stags = 0;
  std::uint16_t max_ird = 32, max_ord = 32;
  // How long to wait for the peer (RFC 5044 section 7.1.2 rules 8 and 10).
  std::uint32_t request_timeout_us = 10'000'000, reply_timeout_us = 5'000'000;
  std::uint32_t first_fpdu_timeout_us = 5'000'000;  // for the RTR message of a peer-to-peer connection
  std::uint32_t close_timeout_us = 5'000'000;       // for the send queue to drain, and then for the peer's FIN
  std::uint32_t srqs = 0;
  std::uint32_t pages = 0;  // of the page table, which is the chip's
  bool extensions = true;   // QPs know the messages of RFC 7306
  abi::Personality personality = abi::Personality::kIetf;
  bool receive_markers = false;  // the device would rather have them
  bool crc = true;               // asks for it on every stream
  // At a time, and of them in setup; 0: as many as the firmware can keep.
  std::uint32_t connections = 0, setups = 0;
};

// Whether firmware of this capacity can run such a chip.
template <class Capacity>
constexpr bool fits(const Settings& s) {
  return s.qps <= Capacity::kQps && s.flows <= Capacity::kFlows && s.cqs <= Capacity::kCqs &&
         s.stags <= Capacity::kStags && s.srqs <= Capacity::kSrqs && s.connections <= Capacity::kConnections &&
         s.setups <= Capacity::kSetups;
}

}  // namespace rnic::fw
