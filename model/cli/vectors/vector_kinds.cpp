#include "model/cli/vectors/vector_kinds.h"

namespace rnic::cli {

const std::vector<VectorKind>& vector_kinds() {
  static const std::vector<VectorKind> kinds = {
      {"crc32c", check_crc32c},
      {"messages", check_message},
      {"mpa_frame", check_mpa_frame},
      {"mulpdu", check_mulpdu},
  };
  return kinds;
}

}  // namespace rnic::cli
