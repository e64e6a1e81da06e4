// What the stages above the boundary know of DDP over SCTP.
#pragma once

#include "model/rnic/llp/llp_traits.h"

namespace rnic {

LlpTraits sctp_traits();

}  // namespace rnic
