// What the stages above the boundary know of MPA over TCP.
#pragma once

#include "model/rnic/llp/llp_traits.h"

namespace rnic {

LlpTraits mpa_tcp_traits();

}  // namespace rnic
