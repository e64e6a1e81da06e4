// Personalities (draft-carrier-rddp-rnic-interop-00): two firmwares, each on a device of the type that the vector
// gives.
#include <stdexcept>

#include "model/conformance/json_fields.h"
#include "model/conformance/run_command.h"
#include "model/conformance/vector_kinds.h"
#include "model/wire/mpa_frame.h"

namespace rnic::conformance {
namespace {

using abi::EventType;
using nlohmann::json;

abi::Personality personality(const json& side) {
  const std::string type = side.at("type");
  if (type == "rdmac") return abi::Personality::kRdmac;
  if (type == "nonperm") return abi::Personality::kIetf;
  if (type == "perm") return abi::Personality::kPermissive;
  throw std::invalid_argument("type is neither rdmac, nonperm nor perm: " + type);
}

std::uint8_t cm_flags(const json& side) {
  return static_cast<std::uint8_t>((flag(side, "m") ? abi::kCmMarkers : 0) | (flag(side, "c") ? abi::kCmCrc : 0));
}

void connect(FirmwareEnd& initiator, const json& side) {
  abi::Command c;
  c.op = abi::CommandOp::kConnect;
  c.qpn = FirmwareEnd::kQpn;
  c.flags = cm_flags(side);
  c.u.cm.peer_port = FirmwareEnd::kPort;
  run_command(initiator, c);
}

void accept(FirmwareEnd& responder, std::uint32_t connection) {
  abi::Command c;
  c.op = abi::CommandOp::kAccept;
  c.id = connection;
  c.qpn = FirmwareEnd::kQpn;
  run_command(responder, c);
}

json revision_fields(ByteSpan octets, wire::MpaFrameKind kind) {
  const auto decode = wire::decode_mpa_frame(octets, kind, wire::kMpaRev2);
  if (decode.error != wire::MpaFrameError::kNone) return {{"error", to_string(decode.error)}};
  return {{"rev", decode.frame.rev}, {"m", int{decode.frame.markers}}, {"c", int{decode.frame.crc}}};
}

// A responder that cannot work with the request closes before it asks its host.
json close_of(const FirmwareEnd& initiator, const FirmwareEnd& responder) {
  const auto revision_refused = [](const FirmwareEnd& end) {
    const auto* error = end.report(EventType::kConnectError);
    return error != nullptr && end.record().closed &&
           error->event.status == static_cast<std::uint8_t>(abi::ConnectStatus::kBadRevision);
  };
  const char* const by = revision_refused(responder)   ? "responder"
                         : revision_refused(initiator) ? "initiator"
                                                       : "nobody";
  return {{"outcome", "close"}, {"closed_by", by}};
}

json result_of(const FirmwareEnd& initiator, const FirmwareEnd& responder) {
  const auto* established = initiator.report(EventType::kEstablished);
  const auto &at_initiator = initiator.record(), &at_responder = responder.record();
  if (established == nullptr || !at_initiator.flow || !at_responder.flow) return close_of(initiator, responder);
  return {{"outcome", "connect"},
          {"version", at_initiator.qp->version},
          {"markers_to_initiator", int{at_initiator.flow->rx_markers}},
          {"markers_to_responder", int{at_initiator.flow->tx_markers}},
          {"crc", int{at_initiator.flow->crc}}};
}

// Both ends have come to the same, and their hosts know the version.
void compare_ends(Outcome& outcome, const FirmwareEnd& initiator, const FirmwareEnd& responder) {
  const FirmwareRecord &one = initiator.record(), &other = responder.record();
  outcome.compare("version at the responder", one.qp->version, other.qp->version);
  outcome.compare("markers that the responder sends", one.flow->rx_markers, other.flow->tx_markers);
  outcome.compare("markers that the responder receives", one.flow->tx_markers, other.flow->rx_markers);
  outcome.compare("CRC at the responder", one.flow->crc, other.flow->crc);
  for (const FirmwareEnd* end : {&initiator, &responder}) {
    outcome.compare("version reported to the host", one.qp->version,
                    end->report(EventType::kEstablished)->event.ddp_version);
  }
}

}  // namespace

Outcome check_rnic_interop(const json& vector) {
  FirmwareEnd initiator(personality(vector.at("initiator"))), responder(personality(vector.at("responder")));
  if (responder.listen(cm_flags(vector.at("responder"))) != abi::CommandStatus::kOk) {
    throw std::invalid_argument("the firmware does not listen with the responder's options");
  }
  connect(initiator, vector.at("initiator"));
  exchange(initiator, responder);
  if (const auto* request = responder.report(EventType::kConnectRequest)) {
    accept(responder, request->event.id);
    exchange(initiator, responder);
  }

  Outcome outcome;
  const auto &request = initiator.record().sent, &reply = responder.record().sent;
  outcome.compare("request", vector.at("request"), revision_fields(request, wire::MpaFrameKind::kRequest));
  outcome.compare("request_hex", to_hex(hex_field(vector, "request_hex")), to_hex(request));
  outcome.compare("reply", vector.at("reply"), revision_fields(reply, wire::MpaFrameKind::kReply));
  outcome.compare("reply_hex", to_hex(hex_field(vector, "reply_hex")), to_hex(reply));
  const json result = result_of(initiator, responder);
  outcome.compare("result", vector.at("result"), result);
  if (result.at("outcome") == "connect") compare_ends(outcome, initiator, responder);
  return outcome;
}

}  // namespace rnic::conformance
