// The level of the firmware's log. Separate from the log's codes: settings and registers use it, too.
#pragma once

#include <cstdint>

namespace rnic::fw {

enum class LogLevel : std::uint8_t { kNone, kError, kWarning, kInfo, kDebug };

}  // namespace rnic::fw
