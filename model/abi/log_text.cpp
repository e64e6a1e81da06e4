#include "model/abi/log_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "model/abi/connection_states.h"
#include "model/abi/firmware_log.h"
#include "model/abi/host_abi_names.h"
#include "model/wire/mpa_frame.h"

namespace rnic {
namespace {

using fw::LogArgument;

std::string event_name(std::uint32_t v) {
  return v < fw::kConnEvents ? name(static_cast<fw::ConnEvent>(v)) : fmt::format("{:#x}", v);
}
std::string state_name(std::uint32_t v) {
  return v < fw::kConnStates ? name(static_cast<fw::ConnState>(v)) : fmt::format("{:#x}", v);
}

std::string ip_text(std::uint32_t v) {
  const in_addr address{htonl(v)};
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

std::string argument_text(LogArgument kind, std::uint32_t v) {
  switch (kind) {
    case LogArgument::kNone:
      return "";
    case LogArgument::kOctets:
    case LogArgument::kFlow:
    case LogArgument::kPort:
      return std::to_string(v);
    case LogArgument::kIp:
      return ip_text(v);
    case LogArgument::kConnection:
      return fmt::format("{:#010x}", v);
    case LogArgument::kConnEvent:
      return event_name(v);
    case LogArgument::kConnState:
      return v == 0xffffffff ? "none" : state_name(v);
    case LogArgument::kTransition:
      return state_name(v >> 8) + " -> " + state_name(v & 0xff);
    case LogArgument::kFrameError:
      return wire::to_string(static_cast<wire::MpaFrameError>(v));
    case LogArgument::kCommandOp:
      return abi::name(static_cast<abi::CommandOp>(v));
    case LogArgument::kCommandStatus:
      return abi::name(static_cast<abi::CommandStatus>(v));
  }
  return "";
}

}  // namespace

std::string log_text(const LogEntry& entry) {
  const auto code = static_cast<unsigned>(entry.code);
  if (code >= fw::kLogCodes) return fmt::format("code {}: {:#x} {:#x}", code, entry.a, entry.b);
  const fw::LogDescription& d = fw::describe(entry.code);
  using fmt::arg;
  return fmt::format(
      "{}: {}", d.name,
      fmt::format(fmt::runtime(d.text), arg("a", argument_text(d.a, entry.a)), arg("b", argument_text(d.b, entry.b))));
}

std::string log_line(const LogEntry& entry) {
  return fmt::format("{:>6} {:>12} ns  {}", entry.sequence, entry.time_ns, log_text(entry));
}

}  // namespace rnic
