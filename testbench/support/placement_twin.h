// The tests of ddp_placement also run on its SystemVerilog twin: the library they are linked with decides.
#pragma once

#include <memory>

#include "model/rnic/rx/ddp_placement.h"

namespace rnic::test {

// Does the stage's work for it as long as the returned object lives; or nullptr.
std::shared_ptr<void> stand_in(DdpPlacement& stage, ContextTables& contexts);

}  // namespace rnic::test
