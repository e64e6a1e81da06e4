// The enhanced word of RFC 6581 as vectors write it: of MPA frames and of session messages over SCTP.
#pragma once

#include "model/conformance/json_fields.h"
#include "model/wire/mpa_frame.h"

namespace rnic::conformance {

inline nlohmann::json word_fields(const wire::MpaEnhanced& e) {
  return {{"a", int{e.peer_to_peer}}, {"b", int{e.rtr_send}}, {"c", int{e.rtr_write}},
          {"d", int{e.rtr_read}},     {"ird", e.ird},         {"ord", e.ord}};
}

inline wire::MpaEnhanced word_from(const nlohmann::json& e) {
  return {flag(e, "a"),
          flag(e, "b"),
          flag(e, "c"),
          flag(e, "d"),
          field<std::uint16_t>(e, "ird"),
          field<std::uint16_t>(e, "ord")};
}

}  // namespace rnic::conformance
