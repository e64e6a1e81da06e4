#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"
#include "model/wire/fpdu.h"

namespace rnic::conformance {

Outcome check_mulpdu(const nlohmann::json& vector) {
  const std::size_t emss = integer_field(vector, "emss");
  Outcome outcome;
  outcome.compare("plain", integer_field(vector, "plain"), wire::mulpdu(emss, false));
  outcome.compare("markers", integer_field(vector, "markers"), wire::mulpdu(emss, true));
  return outcome;
}

}  // namespace rnic::conformance
