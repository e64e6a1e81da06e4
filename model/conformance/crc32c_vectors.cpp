#include "model/common/crc32c.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {

Outcome check_crc32c(const nlohmann::json& vector) {
  const std::vector<std::uint8_t> data = hex_field(vector, "data_hex");
  const std::uint32_t crc = crc32c(data);
  std::uint8_t wire[4];
  store_crc32c(wire, crc);
  Outcome outcome;
  outcome.compare("crc", field<std::uint32_t>(vector, "crc"), crc);
  outcome.compare("wire_hex", to_hex(hex_field(vector, "wire_hex")), to_hex(wire));
  return outcome;
}

}  // namespace rnic::conformance
