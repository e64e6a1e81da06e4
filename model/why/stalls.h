// A run that did not come to its end: who waits for whom, or what never came (rule R20 of why.md).
#pragma once

#include <vector>

#include "model/why/rows.h"

namespace rnic::why {

// At most one.
std::vector<Answer> stalls(const Rows& rows);

}  // namespace rnic::why
