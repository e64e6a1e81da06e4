// The vectors of kinds `fetch_add` and `cmp_swap`.
#pragma once

#include "model/cli/vectors/atomic_chain.h"
#include "model/cli/vectors/vector_kinds.h"

namespace rnic::cli {

Outcome check_fetch_add(AtomicChain& chain, const nlohmann::json& vector);
Outcome check_cmp_swap(AtomicChain& chain, const nlohmann::json& vector);

}  // namespace rnic::cli
