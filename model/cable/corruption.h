// Changes frames in flight. They are shared, so a changed one is a copy.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/buffer.h"
#include "model/common/prng.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// An octet of the frame, and its bit from the left.
struct BitPlace {
  std::uint32_t octet = 0, bit = 0;
};

// Flips one bit after the Ethernet header and leaves checksums unchanged: IPv4 or TCP must detect it, unless it is
// padding. nullopt if nothing follows the header.
std::optional<BitPlace> flip_bit(Frame& frame, BufferPool& pool, Prng& prng);

// Flips one bit of TCP payload in IPv4 and corrects the TCP checksum: only a CRC can detect it. nullopt without
// payload.
std::optional<BitPlace> flip_payload_bit(Frame& frame, BufferPool& pool, Prng& prng);

// Congestion Experienced, as a router with ECN marks (RFC 3168 section 5). False if the packet's sender uses none, or
// it is marked already.
bool mark_congestion(Frame& frame, BufferPool& pool);

}  // namespace rnic
