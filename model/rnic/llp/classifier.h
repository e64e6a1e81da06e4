// Which lower layer takes a received frame.
#pragma once

#include "model/abi/context_types.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// By the protocol of its IPv4 packet, or of the packet that a router reports. All others go to TCP, which counts what
// it cannot read. `frame` has an Ethernet header at least.
LlpId classify(const Frame& frame);

}  // namespace rnic
