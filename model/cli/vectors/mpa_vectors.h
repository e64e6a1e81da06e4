// The vectors of kinds `fpdu` and `marker_stream`, both run through the stages that the chip uses.
#pragma once

#include <memory>

#include "model/cli/vectors/mpa_chain.h"
#include "model/cli/vectors/vector_kinds.h"

namespace rnic::cli {

class MpaVectors {
 public:
  Outcome check_fpdu(const nlohmann::json& vector);
  Outcome check_marker_stream(const nlohmann::json& vector);

 private:
  MpaChain& chain();
  std::unique_ptr<MpaChain> chain_;  // made for the first vector
};

}  // namespace rnic::cli
