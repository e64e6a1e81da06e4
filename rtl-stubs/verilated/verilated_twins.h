// The project's Verilated twins, built for the defaults of their settings; for others they are loaded.
#pragma once

#include "model/rnic/twins.h"
#include "rtl-stubs/loaded/loaded_twins.h"

namespace rnic::rtl {

class VerilatedTwins final : public LoadedTwins {
 public:
  using LoadedTwins::LoadedTwins;
  bool is_built_in() const override { return true; }
  std::vector<std::string> names() const override;
  Handle make(const std::string& name, Stage& stage, const TwinSurroundings& chip, TwinMode mode) const override;
  // Those of RNIC_USER_RTL are as they were built.
  std::string library_of(const std::string& name, const TwinParameters& parameters) const override;
  bool shows_inside() const override;
};

}  // namespace rnic::rtl
