// Enhanced establishment (RFC 6581), negotiated by two firmwares, each on its own end of a stream. A reply that is
// given is put into the initiator's stream instead.
#include <stdexcept>

#include "model/conformance/enhanced_word.h"
#include "model/conformance/json_fields.h"
#include "model/conformance/rtr_letters.h"
#include "model/conformance/run_command.h"
#include "model/conformance/vector_kinds.h"
#include "model/host/driver/connection.h"
#include "model/host/driver/verbs.h"
#include "model/wire/mpa_frame.h"

namespace rnic::conformance {
namespace {

using abi::EventType;
using nlohmann::json;
using Kind = StreamSignal::Kind;

// The vector's policies, as the options of connect, listen and accept.

std::uint8_t rtr_flags(const std::string& letters) {
  static constexpr std::uint8_t kFlags[] = {0, abi::kCmRtrSend, abi::kCmRtrWrite, abi::kCmRtrRead};
  std::uint8_t flags = 0;
  for (const char letter : letters) flags |= kFlags[static_cast<std::size_t>(rtr_kind(letter))];
  return flags;
}

std::uint8_t connect_flags(const json& initiator) {
  if (!flag(initiator, "enhanced")) return abi::kCmCrc;
  const std::uint8_t flags = abi::kCmCrc | abi::kCmEnhanced;
  if (!flag(initiator, "p2p")) return flags;
  return static_cast<std::uint8_t>(flags | abi::kCmPeerToPeer | rtr_flags(initiator.at("rtr")));
}

abi::Command connect_command(const json& initiator) {
  abi::Command c;
  c.op = abi::CommandOp::kConnect;
  c.qpn = FirmwareEnd::kQpn;
  c.flags = connect_flags(initiator);
  c.u.cm.peer_port = FirmwareEnd::kPort;
  c.u.cm.ird = field<std::uint16_t>(initiator, "ird");
  c.u.cm.ord = field<std::uint16_t>(initiator, "ord");
  c.u.cm.max_ird = field<std::uint16_t>(initiator, "max_ird");
  c.u.cm.options = static_cast<std::uint8_t>(abi::kCmMaxIrd | (flag(initiator, "auto_ird") ? 0 : abi::kCmKeepIrd) |
                                             (flag(initiator, "auto_ord") ? 0 : abi::kCmKeepOrd));
  c.u.cm.rtr_order = rtr_order(initiator.at("rtr_pref"));
  return c;
}

std::uint8_t listen_flags(const json& responder) {
  if (!flag(responder, "enhanced")) return abi::kCmCrc;
  return static_cast<std::uint8_t>(abi::kCmCrc | abi::kCmEnhanced | rtr_flags(responder.at("rtr")));
}

abi::Command accept_command(const json& responder, std::uint32_t connection) {
  abi::Command c;
  c.op = abi::CommandOp::kAccept;
  c.id = connection;
  c.qpn = FirmwareEnd::kQpn;
  c.u.cm.ird = field<std::uint16_t>(responder, "ird");
  c.u.cm.ord = field<std::uint16_t>(responder, "ord");
  c.u.cm.max_ird = field<std::uint16_t>(responder, "max_ird");
  c.u.cm.options = abi::kCmMaxIrd;
  if (flag(responder, "reject_small_ird")) c.u.cm.need_ord = field<std::uint16_t>(responder, "need_ord");
  return c;
}

// Running it.

StreamSignal given_reply(const json& reply) {
  if (reply.at("action") == "tcp_close") return {Kind::kFin};
  wire::MpaFrame frame;
  frame.kind = wire::MpaFrameKind::kReply;
  frame.crc = true;
  frame.rev = field<std::uint8_t>(reply, "rev");
  frame.rejected = flag(reply, "r", false);
  if (flag(reply, "s")) frame.enhanced = word_from(reply);
  std::uint8_t octets[wire::kMpaHeaderBytes + wire::MpaEnhanced::kBytes];
  return {Kind::kOctets, std::vector<std::uint8_t>(octets, octets + frame.emit(octets))};
}

void answer(FirmwareEnd& initiator, const json& reply) {
  initiator.receive({Kind::kOpened});
  initiator.take_signals();
  initiator.receive(given_reply(reply));
}

void negotiate(FirmwareEnd& initiator, FirmwareEnd& responder, const json& policy) {
  if (responder.listen(listen_flags(policy)) != abi::CommandStatus::kOk) {
    throw std::invalid_argument("the firmware does not listen with the responder's policy");
  }
  exchange(initiator, responder);
  if (const auto* request = responder.report(EventType::kConnectRequest)) {
    run_command(responder, accept_command(policy, request->event.id));
    exchange(initiator, responder);
  }
}

// What became of it.

json frame_fields(ByteSpan octets, wire::MpaFrameKind kind) {
  const auto decode = wire::decode_mpa_frame(octets, kind, wire::kMpaRev2);
  if (decode.error != wire::MpaFrameError::kNone) return {{"error", to_string(decode.error)}};
  const wire::MpaFrame& frame = decode.frame;
  json f = {{"action", "reply"}, {"rev", frame.rev}, {"s", int{frame.s}}, {"r", int{frame.rejected}}};
  if (frame.enhanced) f.update(word_fields(*frame.enhanced));
  return f;
}

json reply_of(const FirmwareRecord& responder) {
  if (responder.sent.empty()) return {{"action", responder.closed ? "tcp_close" : "nothing"}};
  return frame_fields(responder.sent, wire::MpaFrameKind::kReply);
}

json triple(wire::TerminateCause cause) { return {static_cast<int>(cause.layer), cause.etype, cause.code}; }
json error_of(const abi::Event& event) {
  return event.terminate == 0 ? json() : triple(wire::terminate_cause(event.terminate));
}

// A QP that was not brought into RDMA mode keeps the depths that its host gave it.
json final_of(const FirmwareEnd& responder, const json& policy) {
  const auto& qp = responder.record().qp;
  const auto* error = responder.report(EventType::kConnectError);
  return {{"ird", qp ? json(qp->ird) : policy.at("ird")},
          {"ord", qp ? json(qp->ord) : policy.at("ord")},
          {"error", error != nullptr ? error_of(error->event) : json()}};
}

json rtr_of(const FirmwareRecord& initiator) {
  for (const TxInternalWork& work : initiator.work) {
    if (work.kind == TxInternalWork::Kind::kRtrSend) return "B";
    if (work.kind == TxInternalWork::Kind::kRtrWrite) return "C";
    if (work.kind == TxInternalWork::Kind::kRtrRead) return "D";
  }
  return {};
}

json terminate_of(const FirmwareRecord& initiator) {
  for (const TxInternalWork& work : initiator.work) {
    if (work.kind == TxInternalWork::Kind::kTerminate) return triple(work.cause);
  }
  return {};
}

json result_of(const FirmwareEnd& initiator, const json& policy) {
  const FirmwareRecord& record = initiator.record();
  if (record.reports.empty()) return {{"outcome", "nothing"}};
  const abi::Event& event = record.reports[0].event;
  json result = {{"peer_ird", event.peer_ird}, {"peer_ord", event.peer_ord}, {"rtr", rtr_of(record)}};
  if (event.type == EventType::kEstablished) {
    result.update({{"outcome", "established"}, {"ird", record.qp->ird}, {"ord", record.qp->ord}});
  } else if (event.type == EventType::kRejected) {
    result["outcome"] = "rejected";
  } else if (const json sent = terminate_of(record); !sent.is_null()) {
    result.update({{"outcome", "terminate"}, {"error", sent}, {"told", error_of(event)}});
  } else if (event.terminate != 0) {
    result.update({{"outcome", "bad_reply"}, {"error", error_of(event)}});
  } else {
    const bool retry = host::may_fall_back(connect_flags(policy), flag(policy, "fallback"), event);
    result.update({{"outcome", "closed_by_peer"}, {"may_retry_unenhanced", retry}});
  }
  return result;
}

// The fields that the vector gives.
void compare_fields(Outcome& outcome, const std::string& what, const json& expected, const json& got) {
  for (const auto& [key, value] : expected.items()) outcome.compare(what + "." + key, value, got.value(key, json()));
}

}  // namespace

Outcome check_enhanced_nego(const json& vector) {
  const json &policy = vector.at("initiator"), &other = vector.at("responder");
  const bool forced = flag(vector, "reply_forced");
  FirmwareEnd initiator, responder;
  run_command(initiator, connect_command(policy));
  if (forced) answer(initiator, vector.at("reply"));
  else negotiate(initiator, responder, other);

  Outcome outcome;
  const json request = frame_fields(initiator.record().sent, wire::MpaFrameKind::kRequest);
  compare_fields(outcome, "request", vector.at("request"), request);
  const json result = result_of(initiator, policy);
  compare_fields(outcome, "result", vector.at("result"), result);
  if (result.contains("told")) outcome.compare("error reported to the host", result["error"], result["told"]);
  if (forced) return outcome;

  compare_fields(outcome, "reply", vector.at("reply"), reply_of(responder.record()));
  if (const json& expected = vector.at("responder_final"); !expected.is_null()) {
    compare_fields(outcome, "responder_final", expected, final_of(responder, other));
  }
  if (const auto* told = responder.report(EventType::kConnectRequest); told != nullptr && request.contains("ird")) {
    outcome.compare("IRD reported to the responder's host", request["ird"], told->event.peer_ird);
    outcome.compare("ORD reported to the responder's host", request["ord"], told->event.peer_ord);
  }
  const bool responder_up = responder.report(EventType::kEstablished) != nullptr;
  outcome.compare("responder established", vector.at("result").at("outcome") == "established", responder_up);
  return outcome;
}

}  // namespace rnic::conformance
