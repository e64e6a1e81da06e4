// Send-queue work on STags: fast registration, local invalidation, windows. See stag_work.md.
#pragma once

#include "model/abi/host_abi.h"
#include "model/rnic/context/context.h"

namespace rnic {

constexpr bool is_stag_work(abi::WrOpcode op) {
  return op == abi::WrOpcode::kLocalInv || op == abi::WrOpcode::kRegMr || op == abi::WrOpcode::kBindMw;
}

// Executes the request, visible from the next cycle on. kMwBindErr, without effect, if it is not permitted.
abi::WcStatus do_stag_work(ContextStore& contexts, Qpn qpn, const abi::Wqe& w);

// Its memory is out of reach from the next cycle on, except for writes in progress: see StagFence.
void end_stag(ContextStore& contexts, Stag stag);

// A peer or this side may end this STag: not while windows are bound to it, and never a window of type 1.
bool may_invalidate(const ContextStore& contexts, Stag stag);

// A Read with this STag as its sink is done: invalid from the next cycle on, if it was not before.
// kMwBindErr, without effect, if windows were bound to the region meanwhile.
abi::WcStatus end_sink(ContextStore& contexts, Stag stag);

}  // namespace rnic
