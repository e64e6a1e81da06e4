// Flipped bits. Frames are shared, so a changed one is a copy.
#pragma once

#include "model/common/buffer.h"
#include "model/common/prng.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// One bit after the Ethernet header, checksums left as they were: IPv4 or TCP must notice, or it is padding. False if
// nothing follows the header.
bool flip_bit(Frame& frame, BufferPool& pool, Prng& prng);

// One bit of TCP payload in IPv4, and the TCP checksum made right: only a CRC can notice. False without such a payload.
bool flip_payload_bit(Frame& frame, BufferPool& pool, Prng& prng);

}  // namespace rnic
