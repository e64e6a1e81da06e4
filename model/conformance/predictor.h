// A kind of stage by the ports, rows and structures of the golden library's C interface (golden.md). Where it comes
// from, a program says: rnicsim_vectors has the library's handles, rnicsim_rtl the same stages beside their
// SystemVerilog twins.
#pragma once

#include <cstdint>
#include <memory>

namespace rnic::conformance {

class Predictor {
 public:
  virtual ~Predictor() = default;
  // All throw std::invalid_argument with the stage's sentence for what it may not be offered.
  virtual void row(const char* table, std::uint32_t index, const void* row) = 0;
  virtual void push(std::uint32_t port, const void* message) = 0;
  virtual bool take(std::uint32_t port, void* message) = 0;  // false: nothing is there
};

class PredictorSource {
 public:
  virtual std::unique_ptr<Predictor> open(const char* kind) const = 0;

 protected:
  ~PredictorSource() = default;
};

}  // namespace rnic::conformance
