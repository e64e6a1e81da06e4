// The words of trace events that are more than numbers.
#pragma once

#include <string>

#include "model/trace/event.h"

namespace rnic {

// The meaning of the numbers of a chip's event, if it differs from their names.
std::string trace_words(const TraceEvent& event);

}  // namespace rnic
