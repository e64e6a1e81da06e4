// Connections that a node's transport gave up, or that a peer reset (rule R7 of why.md).
#pragma once

#include <vector>

#include "model/why/rows.h"

namespace rnic::why {

std::vector<Answer> lost_connections(const Rows& rows);

}  // namespace rnic::why
