// The golden library's stages on the simulation's own kernel, where their SystemVerilog twins are, too.
#pragma once

#include <memory>

#include "model/conformance/predictor.h"
#include "model/rnic/twins.h"

namespace rnic::conformance {

// SystemC elaborates once per process: all predictors are opened before the first one is used.
class BenchPredictors final : public PredictorSource {
 public:
  // With `twins`, stages that have one leave the work to it.
  explicit BenchPredictors(const TwinSource* twins = nullptr) : twins_(twins) {}
  std::unique_ptr<Predictor> open(const char* kind) const override;

 private:
  const TwinSource* const twins_;
};

}  // namespace rnic::conformance
