// Runs the chains of stages of `rnicsim vectors`.
#pragma once

namespace rnic::conformance {

// Until nothing moves any more. The kernel wraps what a stage throws.
void run_stages();

}  // namespace rnic::conformance
