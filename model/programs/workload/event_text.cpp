#include "model/programs/workload/event_text.h"

#include <string_view>

#include <fmt/format.h>

#include "model/host/driver/verbs.h"

namespace rnic::workload {
namespace {

using host::CmEventType;

bool known(const wire::TerminateCause& c) { return std::string_view(wire::to_string(c)) != "unknown"; }

// Linux siw on a little-endian host swaps the two fields of the first octet.
wire::TerminateCause exchanged(const wire::TerminateCause& c) {
  return {static_cast<wire::Layer>(c.etype), static_cast<std::uint8_t>(c.layer), c.code};
}

const char* what_became_of(abi::TerminateOrigin origin) {
  switch (origin) {
    case abi::TerminateOrigin::kLocal:
      return "sent";
    case abi::TerminateOrigin::kPeer:
      return "received";
    case abi::TerminateOrigin::kMalformed:
      return "received malformed";
    case abi::TerminateOrigin::kUnsent:
      return "could not send";
  }
  return "unknown";
}

// ": sent Terminate 1/2/05 (untagged buffer: message too long for the buffer)", ": could not send
// Terminate 2/0/01 (MPA: connection lost)".
std::string terminate_text(const host::Terminate& t) {
  const bool swapped = t.origin == abi::TerminateOrigin::kPeer && !known(t.cause) && known(exchanged(t.cause));
  const wire::TerminateCause cause = swapped ? exchanged(t.cause) : t.cause;
  return fmt::format(": {} Terminate {}/{}/{:02x} ({}{})", what_became_of(t.origin), static_cast<unsigned>(cause.layer),
                     cause.etype, cause.code, wire::to_string(cause), swapped ? "; layer and type came exchanged" : "");
}

const char* what(CmEventType type) {
  switch (type) {
    case CmEventType::kConnectRequest:
      return "a connection was requested";
    case CmEventType::kEstablished:
      return "the connection was established";
    case CmEventType::kRejected:
      return "the peer rejected the connection";
    case CmEventType::kConnectError:
      return "the connection failed";
    case CmEventType::kDisconnected:
      return "the connection was closed";
    case CmEventType::kQpError:
      break;
  }
  return "the queue pair went to the error state";
}

}  // namespace

std::string event_text(const host::CmEvent& event) {
  std::string text = what(event.type);
  if (event.status != abi::ConnectStatus::kOk) text += fmt::format(": {}", host::connect_status_str(event.status));
  if (event.refused != abi::CommandStatus::kOk) {
    text += fmt::format(": the device refused the command: {}", host::command_status_str(event.refused));
  }
  if (event.type == CmEventType::kQpError) text += terminate_text(event.terminate);
  return text;
}

}  // namespace rnic::workload
