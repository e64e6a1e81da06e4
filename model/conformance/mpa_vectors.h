// The vectors of kinds `fpdu` and `marker_stream`, both run through the stages that the chip uses.
#pragma once

#include "model/conformance/mpa_chain.h"
#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {

Outcome check_fpdu(MpaChain& chain, const nlohmann::json& vector);
Outcome check_marker_stream(MpaChain& chain, const nlohmann::json& vector);

}  // namespace rnic::conformance
