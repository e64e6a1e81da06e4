// What limits the whole run, and the sum that shows it (rule R21 of why.md).
#pragma once

#include <optional>
#include <vector>

#include "model/why/life.h"
#include "model/why/rows.h"

namespace rnic::why {

// The run's bottleneck (accounting.md). It has no cause if nothing but the wire's rate limits. Nothing: no work began.
std::optional<Answer> throughput(const Rows& rows, const std::vector<Life>& lives);

}  // namespace rnic::why
