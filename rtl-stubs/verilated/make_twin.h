// How VerilatedTwins makes a twin.
#pragma once

#include <memory>

#include "rtl-stubs/verilated/lockstep.h"
#include "rtl-stubs/verilated/twin.h"
#include "rtl-stubs/verilated/verilated_twins.h"

namespace rnic::rtl {

template <class Pins, class... Args>
TwinSource::Handle make_twin(TwinMode mode, typename Pins::Block& stage, Args&... args) {
  if (mode == TwinMode::kReplace) return std::make_unique<Twin<Pins>>(stage, args...);
  return std::make_unique<Lockstep<Pins>>(stage, args...);
}

}  // namespace rnic::rtl
