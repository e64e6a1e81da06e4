// Masked FetchAdd and CmpSwap (RFC 7306 section 5.1), executed by the atomic ALU on host memory.
#include "model/conformance/atomic_vectors.h"

#include "model/conformance/json_fields.h"
#include "model/rnic/responder/atomic_operation.h"

namespace rnic::conformance {
namespace {

std::uint64_t value(const nlohmann::json& vector, const char* key) { return field<std::uint64_t>(vector, key); }

Outcome compare(const nlohmann::json& vector, const AtomicChain::Result& result) {
  Outcome outcome;
  outcome.compare("result", value(vector, "result"), result.value);
  outcome.compare("returned", value(vector, "returned"), result.returned);
  return outcome;
}

}  // namespace

Outcome check_fetch_add(AtomicChain& chain, const nlohmann::json& vector) {
  const auto request = wire::AtomicRequest::fetch_add(value(vector, "add"), value(vector, "mask"));
  return compare(vector, chain.execute(request, value(vector, "original")));
}

Outcome check_cmp_swap(AtomicChain& chain, const nlohmann::json& vector) {
  const auto request = wire::AtomicRequest::cmp_swap(value(vector, "swap"), value(vector, "swap_mask"),
                                                     value(vector, "compare"), value(vector, "compare_mask"));
  Outcome outcome = compare(vector, chain.execute(request, value(vector, "original")));
  outcome.compare("match", flag(vector, "match"), matches(request, value(vector, "original")));
  return outcome;
}

}  // namespace rnic::conformance
