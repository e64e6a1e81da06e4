#include "model/cli/vectors/vector_kinds.h"

#include <memory>

#include "model/cli/vectors/mpa_vectors.h"

namespace rnic::cli {

std::vector<VectorKind> vector_kinds() {
  const auto mpa = std::make_shared<MpaVectors>();  // two kinds, one chain of stages
  return {
      {"crc32c", check_crc32c},
      {"fpdu", [mpa](const nlohmann::json& vector) { return mpa->check_fpdu(vector); }},
      {"marker_stream", [mpa](const nlohmann::json& vector) { return mpa->check_marker_stream(vector); }},
      {"messages", check_message},
      {"mpa_frame", check_mpa_frame},
      {"mulpdu", check_mulpdu},
  };
}

}  // namespace rnic::cli
