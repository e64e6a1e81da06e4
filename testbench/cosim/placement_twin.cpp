#include "testbench/support/placement_twin.h"

#include "rtl-stubs/verilated/twin.h"
#include "rtl-stubs/verilated/verilated_ddp_placement.h"

namespace rnic::test {

std::shared_ptr<void> stand_in(DdpPlacement& stage, ContextTables& contexts) {
  return std::make_shared<rtl::Twin<rtl::DdpPlacementPins>>(stage, contexts);
}

}  // namespace rnic::test
