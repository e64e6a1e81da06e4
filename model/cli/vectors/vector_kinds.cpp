#include "model/cli/vectors/vector_kinds.h"

#include <memory>

#include "model/cli/vectors/atomic_vectors.h"
#include "model/cli/vectors/mpa_vectors.h"
#include "model/cli/vectors/vector_stages.h"

namespace rnic::cli {

std::vector<VectorKind> vector_kinds(const TwinSource* twins) {
  const auto stages = std::make_shared<VectorStages>(twins);
  return {
      {"cmp_swap", [stages](const nlohmann::json& v) { return check_cmp_swap(stages->atomics(), v); }},
      {"crc32c", check_crc32c},
      {"enhanced_nego", check_enhanced_nego},
      {"fetch_add", [stages](const nlohmann::json& v) { return check_fetch_add(stages->atomics(), v); }},
      {"fpdu", [stages](const nlohmann::json& v) { return check_fpdu(stages->mpa(), v); }},
      {"marker_stream", [stages](const nlohmann::json& v) { return check_marker_stream(stages->mpa(), v); }},
      {"messages", check_message},
      {"mpa_frame", check_mpa_frame},
      {"mulpdu", check_mulpdu},
      {"rnic_interop", check_rnic_interop},
  };
}

}  // namespace rnic::cli
