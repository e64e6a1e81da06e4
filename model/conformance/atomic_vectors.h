// The vectors of kinds `fetch_add` and `cmp_swap`.
#pragma once

#include "model/conformance/atomic_chain.h"
#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {

Outcome check_fetch_add(AtomicChain& chain, const nlohmann::json& vector);
Outcome check_cmp_swap(AtomicChain& chain, const nlohmann::json& vector);

}  // namespace rnic::conformance
