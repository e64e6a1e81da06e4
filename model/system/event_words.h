// The words of trace events that are more than numbers.
#pragma once

#include <string>

#include "model/trace/event.h"

namespace rnic {

// The meaning of the numbers of a chip's event, if it differs from their names.
// In value 2 of kCorrupted, beside the bit.
inline constexpr std::uint32_t kChecksumRight = 0x100;

std::string trace_words(const TraceEvent& event);

}  // namespace rnic
