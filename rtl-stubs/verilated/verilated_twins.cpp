#include "rtl-stubs/verilated/verilated_twins.h"

#include <sstream>

#include "model/common/check.h"
#include "rtl-stubs/verilated/inside.h"
#include "rtl-stubs/verilated/make_twin.h"

namespace rnic::rtl {

std::vector<std::string> VerilatedTwins::names() const {
  std::vector<std::string> names;
  for (const auto* part : {&stream_twins(), &message_twins()}) {
    for (const TwinMaker& twin : *part) names.emplace_back(twin.stage);
  }
  return names;
}

TwinSource::Handle VerilatedTwins::make(const std::string& name, Stage& stage, const TwinSurroundings& chip,
                                        TwinMode mode) const {
  for (const auto* part : {&stream_twins(), &message_twins()}) {
    for (const TwinMaker& twin : *part) {
      if (name == twin.stage) return twin.make(stage, chip, mode);
    }
  }
  throw InternalError("no twin is called " + name);
}

std::string VerilatedTwins::library_of(const std::string& name, const TwinParameters& parameters) const {
  std::istringstream blocks(RNIC_USER_BLOCKS);
  for (std::string block; blocks >> block;) {
    if (block == name)
      throw ConfigError("the RTL of " + name + " in RNIC_USER_RTL is built for the default settings alone");
  }
  return LoadedTwins::library_of(name, parameters);
}

bool VerilatedTwins::shows_inside() const { return kShowsInside; }

}  // namespace rnic::rtl
