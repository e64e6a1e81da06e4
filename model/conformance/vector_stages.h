// The chains of stages that vectors run through. SystemC elaborates once per process, so all are made together, for the
// first vector that needs one.
#pragma once

#include <memory>

#include "model/conformance/atomic_chain.h"
#include "model/conformance/mpa_chain.h"

namespace rnic::conformance {

class VectorStages {
 public:
  explicit VectorStages(const TwinSource* twins) : twins_(twins) {}
  MpaChain& mpa() { return chains().mpa; }
  AtomicChain& atomics() { return chains().atomics; }

 private:
  struct Chains {
    explicit Chains(const TwinSource* twins) : mpa(twins), atomics(twins) {}
    MpaChain mpa;
    AtomicChain atomics;
  };
  Chains& chains() {
    if (!chains_) chains_ = std::make_unique<Chains>(twins_);
    return *chains_;
  }
  const TwinSource* const twins_;
  std::unique_ptr<Chains> chains_;
};

}  // namespace rnic::conformance
