// Twins from shared libraries (rnic_rtl.h): of somebody's RTL, or the project's for the settings of a run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/rnic/twins.h"

namespace rnic::rtl {

class LoadedTwins : public TwinSource {
 public:
  // Gives the file of a library of a block's twin, built with these parameters. Throws ConfigError.
  using Build = std::function<std::string(const std::string& block, const TwinParameters& parameters)>;

  explicit LoadedTwins(Build build = {}) : build_(std::move(build)) {}
  virtual ~LoadedTwins() = default;

  bool is_built_in() const override { return false; }
  std::vector<std::string> names() const override;
  Handle make(const std::string& name, Stage& stage, const TwinSurroundings& chip, TwinMode mode) const override;
  Handle load(const TwinChoice& twin, const TwinParameters& parameters, Stage& stage, const TwinSurroundings& chip,
              TwinMode mode) const override;
  std::string library_of(const std::string& name, const TwinParameters& parameters) const override;
  bool shows_inside() const override { return false; }

 private:
  const Build build_;
};

}  // namespace rnic::rtl
