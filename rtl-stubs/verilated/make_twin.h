// How VerilatedTwins makes a twin. The stages of each part of the chip have their own source file, as a block takes
// long to compile.
#pragma once

#include <memory>
#include <vector>

#include "model/common/stage.h"
#include "model/rnic/twins.h"

namespace rnic::rtl {

struct TwinMaker {
  const char* stage;
  TwinSource::Handle (*make)(Stage& stage, const TwinSurroundings& chip, TwinMode mode);
};
const std::vector<TwinMaker>& stream_twins();   // of stages that FPDUs pass through
const std::vector<TwinMaker>& message_twins();  // of stages that work on requests, responses, errors and memory

}  // namespace rnic::rtl
