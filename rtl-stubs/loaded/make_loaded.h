// How LoadedTwins makes a twin; see rtl-stubs/verilated/make_twin.h.
#pragma once

#include <vector>

#include "rtl-stubs/loaded/loaded_model.h"
#include "rtl-stubs/verilated/twin_of.h"

namespace rnic::rtl {

struct LoadedMaker {
  const char *stage, *block;
  TwinSource::Handle (*make)(const LoadedModel::Source& source, Stage& stage, const TwinSurroundings& chip,
                             TwinMode mode);
};
const std::vector<LoadedMaker>& loaded_stream_twins();
const std::vector<LoadedMaker>& loaded_message_twins();

template <class Pins, auto... Needs>
LoadedMaker loaded(const char* stage) {
  return {stage, Pins::Model::kBlock,
          [](const LoadedModel::Source& source, Stage& its, const TwinSurroundings& chip, TwinMode mode) {
            return twin_with<Pins, Needs...>(Instance<typename Pins::Model>(source), its, chip, mode);
          }};
}

}  // namespace rnic::rtl
