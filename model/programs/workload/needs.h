// What a plan needs of its nodes, before any of it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/programs/workload/plan.h"

namespace rnic::workload {

// At least: sizes that are drawn count as the smallest, and additional connections not at all.
struct Needs {
  std::uint64_t regions = 0;  // that the programs register; they keep them until the run ends
  std::uint64_t octets = 0;   // of these
};
Needs needs_of(const Plan& plan, std::size_t node);

}  // namespace rnic::workload
