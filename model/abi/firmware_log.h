// The firmware's log: the only description of each code, for the firmware, the driver and anyone who prints an entry.
#pragma once

#include <cstdint>

#include "model/abi/firmware_log_level.h"

namespace rnic::fw {

enum class LogCode : std::uint8_t {
  kUnexpectedEvent,
  kNoListener,
  kNoResources,
  kBadFrame,
  kCommandRefused,
  kConnectionState,
  kMulpdu,
  kSessionViolation,
  kSilentPeer,
  kStaleEvent
};
inline constexpr unsigned kLogCodes = static_cast<unsigned>(LogCode::kStaleEvent) + 1;

// The meaning of an argument.
enum class LogArgument : std::uint8_t {
  kNone,
  kOctets,
  kFlow,
  kPort,
  kIp,
  kConnection,    // its id
  kConnEvent,     // ConnEvent
  kConnState,     // ConnState, or 0xffffffff without a connection
  kTransition,    // ConnState before << 8 | ConnState after
  kFrameError,    // wire::MpaFrameError
  kCommandOp,     // abi::CommandOp
  kCommandStatus  // abi::CommandStatus
};

struct LogDescription {
  const char* name;
  LogLevel level;
  const char* text;  // {a} and {b} stand for the arguments
  LogArgument a, b;
};

inline constexpr LogDescription kLog[] = {
    {"unexpected_event", LogLevel::kWarning, "{a} is invalid in state {b}", LogArgument::kConnEvent,
     LogArgument::kConnState},
    {"no_listener", LogLevel::kInfo, "port {a}, to which {b} connected, has no listener any more", LogArgument::kPort,
     LogArgument::kIp},
    {"no_resources", LogLevel::kWarning, "no resources for a connection to port {a} from {b}", LogArgument::kPort,
     LogArgument::kIp},
    {"bad_frame", LogLevel::kWarning, "connection {a}: start-up frame refused: {b}", LogArgument::kConnection,
     LogArgument::kFrameError},
    {"command_refused", LogLevel::kDebug, "command {a} refused: {b}", LogArgument::kCommandOp,
     LogArgument::kCommandStatus},
    {"connection_state", LogLevel::kDebug, "connection {a}: {b}", LogArgument::kConnection, LogArgument::kTransition},
    {"mulpdu", LogLevel::kInfo, "connection {a}: MULPDU is {b} now", LogArgument::kConnection, LogArgument::kOctets},
    {"session_violation", LogLevel::kWarning, "flow {a}: what came fits no DDP stream session", LogArgument::kFlow,
     LogArgument::kNone},
    {"silent_peer", LogLevel::kWarning, "connection {a} from {b} gave no request, and its place to another one",
     LogArgument::kConnection, LogArgument::kIp},
    {"stale_event", LogLevel::kDebug, "flow {a}: an event of an earlier connection or session", LogArgument::kFlow,
     LogArgument::kNone},
};
static_assert(sizeof kLog / sizeof *kLog == kLogCodes);

constexpr const LogDescription& describe(LogCode code) { return kLog[static_cast<unsigned>(code)]; }

}  // namespace rnic::fw
