// Flips bits. Frames are shared, so a changed one is a copy.
#pragma once

#include "model/common/buffer.h"
#include "model/common/prng.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// Flips one bit after the Ethernet header and leaves checksums unchanged: IPv4 or TCP must detect it, unless it is
// padding. False if nothing follows the header.
bool flip_bit(Frame& frame, BufferPool& pool, Prng& prng);

// Flips one bit of TCP payload in IPv4 and corrects the TCP checksum: only a CRC can detect it. False without payload.
bool flip_payload_bit(Frame& frame, BufferPool& pool, Prng& prng);

}  // namespace rnic
