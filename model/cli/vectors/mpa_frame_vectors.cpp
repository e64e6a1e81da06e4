#include <stdexcept>

#include "model/cli/vectors/json_fields.h"
#include "model/cli/vectors/vector_kinds.h"
#include "model/wire/mpa_frame.h"

namespace rnic::cli {
namespace {

using wire::MpaEnhanced;
using wire::MpaFrame;
using wire::MpaFrameKind;

MpaFrameKind frame_kind(const nlohmann::json& vector) {
  const std::string text = vector.at("frame");
  if (text != "req" && text != "rep") throw std::invalid_argument("frame is neither req nor rep: " + text);
  return text == "req" ? MpaFrameKind::kRequest : MpaFrameKind::kReply;
}

nlohmann::json to_json(const MpaEnhanced& e) {
  return {{"a", int{e.peer_to_peer}}, {"b", int{e.rtr_send}}, {"c", int{e.rtr_write}},
          {"d", int{e.rtr_read}},     {"ird", e.ird},         {"ord", e.ord}};
}

nlohmann::json to_json(const wire::MpaFrameDecode& decode) {
  if (decode.error != wire::MpaFrameError::kNone) return {{"ok", false}, {"error", to_string(decode.error)}};
  const MpaFrame& f = decode.frame;
  return {{"ok", true},
          {"m", int{f.markers}},
          {"c", int{f.crc}},
          {"r", int{f.rejected}},
          {"s", int{f.s}},
          {"rev", f.rev},
          {"pd_length", f.pd_length()},
          {"enhanced", f.enhanced ? to_json(*f.enhanced) : nlohmann::json()},
          {"private_hex", to_hex(f.private_data)}};
}

MpaEnhanced enhanced_from(const nlohmann::json& e) {
  MpaEnhanced word;
  word.peer_to_peer = flag(e, "a");
  word.rtr_send = flag(e, "b");
  word.rtr_write = flag(e, "c");
  word.rtr_read = flag(e, "d");
  word.ird = field<std::uint16_t>(e, "ird");
  word.ord = field<std::uint16_t>(e, "ord");
  return word;
}

std::string encoded(const nlohmann::json& encode, MpaFrameKind kind) {
  const std::vector<std::uint8_t> private_data = hex_field(encode, "private_hex");
  MpaFrame frame;
  frame.kind = kind;
  frame.markers = flag(encode, "m");
  frame.crc = flag(encode, "c");
  frame.rejected = flag(encode, "r");
  frame.rev = field<std::uint8_t>(encode, "rev");
  if (!encode.at("enhanced").is_null()) frame.enhanced = enhanced_from(encode.at("enhanced"));
  frame.private_data = private_data;
  std::uint8_t buffer[wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData];
  return to_hex({buffer, frame.emit(buffer)});
}

}  // namespace

Outcome check_mpa_frame(const nlohmann::json& vector) {
  const std::vector<std::uint8_t> bytes = hex_field(vector, "hex");
  const MpaFrameKind kind = frame_kind(vector);
  Outcome outcome;
  outcome.compare("decoded", vector.at("decoded"),
                  to_json(decode_mpa_frame(bytes, kind, field<std::uint8_t>(vector, "receiver_max_rev"))));
  const nlohmann::json& encode = vector.at("encode");
  if (!encode.is_null()) outcome.compare("encoded", to_hex(bytes), encoded(encode, kind));
  return outcome;
}

}  // namespace rnic::cli
