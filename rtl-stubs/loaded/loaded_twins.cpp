#include "rtl-stubs/loaded/loaded_twins.h"

#include <memory>

#include "model/common/check.h"
#include "rtl-stubs/loaded/make_loaded.h"

namespace rnic::rtl {

std::vector<std::string> LoadedTwins::names() const {
  std::vector<std::string> names;
  for (const auto* part : {&loaded_stream_twins(), &loaded_message_twins()}) {
    for (const LoadedMaker& twin : *part) names.emplace_back(twin.stage);
  }
  return names;
}

TwinSource::Handle LoadedTwins::make(const std::string& name, Stage&, const TwinSurroundings&, TwinMode) const {
  throw InternalError("no twin of " + name + " is built in");
}

TwinSource::Handle LoadedTwins::load(const TwinChoice& twin, const TwinParameters& parameters, Stage& stage,
                                     const TwinSurroundings& chip, TwinMode mode) const {
  for (const auto* part : {&loaded_stream_twins(), &loaded_message_twins()}) {
    for (const LoadedMaker& maker : *part) {
      if (twin.stage != maker.stage) continue;
      return maker.make({std::make_shared<const RtlLibrary>(twin.library, maker.block), parameters}, stage, chip, mode);
    }
  }
  throw ConfigError(twin.stage + ": its RTL cannot come from a library, as rtl-stubs/loaded does not name its pins");
}

std::string LoadedTwins::library_of(const std::string& name, const TwinParameters& parameters) const {
  if (build_) return build_(name, parameters);
  throw InternalError("nothing builds the twin of " + name);
}

}  // namespace rnic::rtl
