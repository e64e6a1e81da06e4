// Errors of a work request, found before anything of it is sent.
#pragma once

#include "model/rnic/context/context.h"
#include "model/rnic/messages/work_requests.h"

namespace rnic {

// kSuccess, or the status with which the request completes: unreadable, opcode or gather list, length, local key.
abi::WcStatus check_wqe(const ContextStore& contexts, const QpContext& ctx, const FetchedWqe& f);

}  // namespace rnic
