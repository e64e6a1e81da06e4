// A list of flows, each at most once.
#pragma once

#include "model/common/id_queue.h"
#include "model/common/ids.h"

namespace rnic::llp {

using FlowQueue = IdQueue<FlowId>;

}  // namespace rnic::llp
