// How VerilatedTwins makes a twin: the stages of a part of the chip, in a source of their own each, as a block's
// compilation takes long.
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
const std::vector<TwinMaker>& stream_twins();   // that FPDUs pass through
const std::vector<TwinMaker>& message_twins();  // that work on requests, responses, errors and memory

}  // namespace rnic::rtl
