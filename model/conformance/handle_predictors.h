// Stages of librnic_golden, by its C interface.
#pragma once

#include <memory>

#include "model/conformance/predictor.h"

namespace rnic::conformance {

class HandlePredictors final : public PredictorSource {
 public:
  std::unique_ptr<Predictor> open(const char* kind) const override;
};

}  // namespace rnic::conformance
