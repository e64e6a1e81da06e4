// The atomic ALU before eight octets of host memory: what `rnicsim vectors` executes atomics on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/conformance/predictor.h"
#include "model/wire/rdmap.h"

namespace rnic::conformance {

class AtomicChain {
 public:
  explicit AtomicChain(const PredictorSource& source);

  struct Result {
    std::uint64_t value = 0;     // in memory afterwards
    std::uint64_t returned = 0;  // in the Atomic Response
  };
  // Executes the request's operation; its STag and TO are the chain's. InternalError if there is no single response.
  Result execute(const wire::AtomicRequest& request, std::uint64_t original);

 private:
  void open_memory();
  void read(std::uint64_t value);
  std::optional<std::uint64_t> written();

  const std::unique_ptr<Predictor> alu_;
};

}  // namespace rnic::conformance
