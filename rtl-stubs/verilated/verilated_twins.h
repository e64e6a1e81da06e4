// The project's Verilated twins.
#pragma once

#include "model/rnic/twins.h"

namespace rnic::rtl {

class VerilatedTwins final : public TwinSource {
 public:
  std::vector<std::string> names() const override;
  Handle make(const std::string& name, Stage& stage, const TwinSurroundings& chip, TwinMode mode) const override;
  bool shows_inside() const override;
};

}  // namespace rnic::rtl
