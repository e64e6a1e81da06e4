#include <stdexcept>

#include "model/conformance/enhanced_word.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/vector_kinds.h"
#include "model/ends/firmware_end.h"
#include "model/wire/mpa_frame.h"

namespace rnic::conformance {
namespace {

using wire::MpaEnhanced;
using wire::MpaFrame;
using wire::MpaFrameKind;

MpaFrameKind frame_kind(const nlohmann::json& vector) {
  const std::string text = vector.at("frame");
  if (text != "req" && text != "rep") throw std::invalid_argument("frame is neither req nor rep: " + text);
  return text == "req" ? MpaFrameKind::kRequest : MpaFrameKind::kReply;
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
          {"enhanced", f.enhanced ? word_fields(*f.enhanced) : nlohmann::json()},
          {"private_hex", to_hex(f.private_data)}};
}

std::string encoded(const nlohmann::json& encode, MpaFrameKind kind) {
  const std::vector<std::uint8_t> private_data = hex_field(encode, "private_hex");
  MpaFrame frame;
  frame.kind = kind;
  frame.markers = flag(encode, "m");
  frame.crc = flag(encode, "c");
  frame.rejected = flag(encode, "r");
  frame.rev = field<std::uint8_t>(encode, "rev");
  if (!encode.at("enhanced").is_null()) frame.enhanced = word_from(encode.at("enhanced"));
  frame.private_data = private_data;
  std::uint8_t buffer[wire::kMpaHeaderBytes + wire::kMpaMaxPrivateData];
  return to_hex({buffer, frame.emit(buffer)});
}

// The frame as the stream that a firmware gets from a peer, which then closes.

void feed(FirmwareEnd& end, const std::vector<std::uint8_t>& octets) {
  end.receive({StreamSignal::Kind::kOctets, octets});
  end.receive({StreamSignal::Kind::kFin});
}

FirmwareEnd responder(const std::vector<std::uint8_t>& request, bool enhanced) {
  FirmwareEnd end(abi::Personality::kPermissive);
  end.listen(enhanced ? abi::kCmEnhanced : 0);
  end.receive({StreamSignal::Kind::kOpen});
  feed(end, request);
  return end;
}

FirmwareEnd initiator(const std::vector<std::uint8_t>& reply, bool enhanced) {
  FirmwareEnd end(abi::Personality::kPermissive);
  abi::Command connect;
  connect.op = abi::CommandOp::kConnect;
  connect.qpn = FirmwareEnd::kQpn;
  connect.u.cm.peer_port = FirmwareEnd::kPort;
  if (enhanced) {
    connect.flags = abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead;
  }
  end.command(connect);
  end.receive({StreamSignal::Kind::kOpened});
  feed(end, reply);
  return end;
}

// What the firmware tells the host of a good frame. A=0 hides the RTR flags.
nlohmann::json told(const FirmwareRecord::Report& report) {
  const abi::Event& e = report.event;
  const auto has = [&](abi::CmFlags f) { return int{(e.mpa_flags & f) != 0}; };
  nlohmann::json told = {{"m", has(abi::kCmMarkers)},
                         {"c", has(abi::kCmCrc)},
                         {"rev", e.mpa_revision},
                         {"enhanced", nullptr},
                         {"private_hex", to_hex(report.private_data)}};
  if (has(abi::kCmEnhanced)) {
    told["enhanced"] = {{"a", has(abi::kCmPeerToPeer)}, {"b", has(abi::kCmRtrSend)}, {"c", has(abi::kCmRtrWrite)},
                        {"d", has(abi::kCmRtrRead)},    {"ird", e.peer_ird},         {"ord", e.peer_ord}};
  }
  return told;
}

void compare_told(Outcome& outcome, const nlohmann::json& decoded, const FirmwareRecord::Report& report) {
  const nlohmann::json got = told(report);
  for (const char* key : {"m", "c", "rev", "private_hex"}) {
    outcome.compare(std::string("reported to the host: ") + key, decoded.at(key), got[key]);
  }
  nlohmann::json word = decoded.at("enhanced");
  if (!word.is_null() && !flag(word, "a")) word["b"] = word["c"] = word["d"] = 0;
  outcome.compare("reported to the host: enhanced", word, got["enhanced"]);
}

// Refused: TCP is closed, nothing is sent, the host hears of MPA error 4.
void compare_refusal(Outcome& outcome, const std::string& error, const FirmwareEnd& end, bool sent_before) {
  const auto* report = end.report(abi::EventType::kConnectError);
  outcome.compare("closed", true, end.record().closed);
  outcome.compare("an answer was sent", sent_before, !end.record().sent.empty());
  outcome.compare("error reported to the host", true, report != nullptr);
  if (report == nullptr) return;
  const auto status = error == "bad_rev" ? abi::ConnectStatus::kBadRevision : abi::ConnectStatus::kBadMpaFrame;
  outcome.compare("status", static_cast<int>(status), report->event.status);
  outcome.compare("error word", wire::terminate_word(wire::mpa::kInvalidStartupFrame), report->event.terminate);
}

void compare_responder(Outcome& outcome, const nlohmann::json& vector, const std::vector<std::uint8_t>& bytes) {
  const nlohmann::json& decoded = vector.at("decoded");
  const FirmwareEnd end = responder(bytes, field<std::uint8_t>(vector, "receiver_max_rev") >= wire::kMpaRev2);
  if (!decoded.at("ok")) return compare_refusal(outcome, decoded.at("error"), end, false);
  const auto* request = end.report(abi::EventType::kConnectRequest);
  outcome.compare("request reported to the host", true, request != nullptr);
  if (request != nullptr) compare_told(outcome, decoded, *request);
}

// Octets after a reply are FPDUs, and no initiator of ours asks for what a revision 2 without S would answer.
void compare_initiator(Outcome& outcome, const nlohmann::json& vector, const std::vector<std::uint8_t>& bytes) {
  const nlohmann::json& decoded = vector.at("decoded");
  const auto max_rev = field<std::uint8_t>(vector, "receiver_max_rev");
  if (!decoded.at("ok")) {
    if (decoded.at("error") == "extra_octets") return;
    return compare_refusal(outcome, decoded.at("error"), initiator(bytes, max_rev >= wire::kMpaRev2), true);
  }
  const bool enhanced = flag(decoded, "s") && integer_field(decoded, "rev") >= wire::kMpaRev2;
  if (!enhanced && integer_field(decoded, "rev") >= wire::kMpaRev2) return;
  const FirmwareEnd end = initiator(bytes, enhanced);
  const auto& reports = end.record().reports;
  outcome.compare("reply reported to the host", true, !reports.empty());
  if (reports.empty()) return;
  outcome.compare("rejected", flag(decoded, "r"), reports[0].event.type == abi::EventType::kRejected);
  compare_told(outcome, decoded, reports[0]);
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
  kind == MpaFrameKind::kRequest ? compare_responder(outcome, vector, bytes)
                                 : compare_initiator(outcome, vector, bytes);
  return outcome;
}

}  // namespace rnic::conformance
