// Compares the model's Terminate with the real side's, field by field, and explains differences.
#pragma once

#include <vector>

#include "model/capture/replay/comparison.h"

namespace rnic::replay {

// nullptr: that side sent no Terminate.
std::vector<Difference> compare_terminates(const Script& script, const Message* real, const Message* model);

}  // namespace rnic::replay
