#include "rtl-stubs/verilated/verilated_twins.h"

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

bool VerilatedTwins::shows_inside() const { return kShowsInside; }

}  // namespace rnic::rtl
