// The tests of ddp_placement are those of its SystemVerilog twin as well: what they are linked with says which.
#pragma once

#include <memory>

#include "model/rnic/rx/ddp_placement.h"

namespace rnic::test {

// What does the stage's work in its place while it lives, or nullptr.
std::shared_ptr<void> stand_in(DdpPlacement& stage, ContextStore& contexts);

}  // namespace rnic::test
