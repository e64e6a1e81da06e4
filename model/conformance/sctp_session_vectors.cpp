// Control messages of a DDP stream session over SCTP, both ways.
#include "model/conformance/enhanced_word.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"
#include "model/wire/ddp_session.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using wire::SessionMessage;

json to_json(const wire::SessionDecode& decode) {
  if (decode.error != wire::SessionError::kNone) return {{"ok", false}, {"error", to_string(decode.error)}};
  const SessionMessage& m = decode.message;
  return {{"ok", true},
          {"ddp_ssn", m.ddp_ssn},
          {"code", static_cast<std::uint16_t>(m.code)},
          {"message", to_string(m.code)},
          {"pd_length", m.pd_length()},
          {"enhanced", m.enhanced ? word_fields(*m.enhanced) : json()},
          {"private_hex", to_hex(m.private_data)}};
}

std::string encoded_message(const json& encode) {
  const std::vector<std::uint8_t> private_data = hex_field(encode, "private_hex");
  SessionMessage m;
  m.ddp_ssn = field<std::uint16_t>(encode, "ddp_ssn");
  m.code = static_cast<wire::SessionCode>(field<std::uint16_t>(encode, "code"));
  if (!encode.at("enhanced").is_null()) m.enhanced = word_from(encode.at("enhanced"));
  m.private_data = private_data;
  std::uint8_t buffer[SessionMessage::kHeaderBytes + SessionMessage::kMaxPrivateData];
  return to_hex({buffer, m.emit(buffer)});
}

}  // namespace

Outcome check_sctp_session(const json& vector) {
  Outcome outcome;
  const std::vector<std::uint8_t> octets = hex_field(vector, "hex");
  const auto decode = wire::decode_session_message(octets, flag(vector, "receiver_enhanced"));
  outcome.compare("decoded", vector.at("decoded"), to_json(decode));
  if (!vector.at("encode").is_null()) outcome.compare("hex", vector.at("hex"), encoded_message(vector.at("encode")));
  return outcome;
}

}  // namespace rnic::conformance
