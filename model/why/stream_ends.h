// Streams that ended with an error, start-up frames that were refused, and failed checks: the view `causes` of the
// database (rules R1 to R6 of why.md), and the way from cause to symptom.
#pragma once

#include "model/why/rows.h"

namespace rnic::why {

std::vector<Answer> stream_ends(const Rows& rows);

}  // namespace rnic::why
