// The model's Terminate against the real side's, field by field, and what explains where they differ.
#pragma once

#include <vector>

#include "model/capture/replay/comparison.h"

namespace rnic::replay {

// nullptr: that side sent none.
std::vector<Difference> compare_terminates(const Script& script, const Message* real, const Message* model);

}  // namespace rnic::replay
