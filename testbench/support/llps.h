// The lower layers of the chip, for stages above them.
#pragma once

#include "model/rnic/llp/sctp/sctp_traits.h"
#include "model/rnic/llp/tcp/mpa_tcp_traits.h"

namespace rnic::test {

inline PerLlp<LlpTraits> llp_traits() { return {mpa_tcp_traits(), sctp_traits()}; }

}  // namespace rnic::test
