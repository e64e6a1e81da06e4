// The chains of stages that vectors run through: all made together, for the first vector that needs one, as SystemC
// elaborates once.
#pragma once

#include <optional>

#include "model/conformance/atomic_chain.h"
#include "model/conformance/mpa_chain.h"

namespace rnic::conformance {

class VectorStages {
 public:
  explicit VectorStages(const PredictorSource& source) : source_(source) {}
  MpaChain& mpa() { return chains().mpa; }
  AtomicChain& atomics() { return chains().atomics; }

 private:
  struct Chains {
    explicit Chains(const PredictorSource& source) : mpa(source), atomics(source) {}
    MpaChain mpa;
    AtomicChain atomics;
  };
  Chains& chains() {
    if (!chains_) chains_.emplace(source_);
    return *chains_;
  }
  const PredictorSource& source_;
  std::optional<Chains> chains_;
};

}  // namespace rnic::conformance
