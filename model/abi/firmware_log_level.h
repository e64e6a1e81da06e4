// How much of the firmware's log is wanted. Apart from the log's codes: settings and registers know it, too.
#pragma once

#include <cstdint>

namespace rnic::fw {

enum class LogLevel : std::uint8_t { kNone, kError, kWarning, kInfo, kDebug };

}  // namespace rnic::fw
