#include "model/abi/log_text.h"

#include <fmt/format.h>

#include "model/abi/connection_states.h"
#include "model/abi/firmware_log.h"
#include "model/abi/host_abi_names.h"
#include "model/wire/mpa_frame.h"

namespace rnic {
namespace {

using fw::LogArgument;

template <class Enum>
std::string named(std::uint32_t value, Enum last) {
  return value <= static_cast<std::uint32_t>(last) ? name(static_cast<Enum>(value)) : fmt::format("{:#x}", value);
}

std::string argument_text(LogArgument kind, std::uint32_t v) {
  switch (kind) {
    case LogArgument::kNone:
      return "";
    case LogArgument::kOctets:
    case LogArgument::kPort:
      return std::to_string(v);
    case LogArgument::kIp:
      return fmt::format("{}.{}.{}.{}", v >> 24, v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff);
    case LogArgument::kConnection:
      return fmt::format("{:#010x}", v);
    case LogArgument::kConnEvent:
      return named(v, fw::ConnEvent::kTimeout);
    case LogArgument::kConnState:
      return v == 0xffffffff ? "none" : named(v, fw::ConnState::kClosing);
    case LogArgument::kTransition:
      return named(v >> 8, fw::ConnState::kClosing) + " -> " + named(v & 0xff, fw::ConnState::kClosing);
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
