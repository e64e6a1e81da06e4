// Makes a twin from the class of its pins.
#pragma once

#include "rtl-stubs/verilated/lockstep.h"
#include "rtl-stubs/verilated/make_twin.h"
#include "rtl-stubs/verilated/twin.h"

namespace rnic::rtl {

// `Needs` are the parts of the surroundings that its pins take, in the order of their constructor.
template <class Pins, auto... Needs>
TwinSource::Handle twin_with(Instance<typename Pins::Model> model, Stage& stage, const TwinSurroundings& chip,
                             TwinMode mode) {
  auto& block = dynamic_cast<typename Pins::Block&>(stage);
  (RNIC_CHECK(chip.*Needs != nullptr), ...);
  if (mode == TwinMode::kReplace) return std::make_unique<Twin<Pins>>(std::move(model), block, *(chip.*Needs)...);
  return std::make_unique<Lockstep<Pins>>(std::move(model), block, *(chip.*Needs)...);
}
template <class Pins, auto... Needs>
TwinSource::Handle twin_of(Stage& stage, const TwinSurroundings& chip, TwinMode mode) {
  return twin_with<Pins, Needs...>(Instance<typename Pins::Model>(), stage, chip, mode);
}

}  // namespace rnic::rtl
