// The events of a request that its sequence shows: of a long message, those of some FPDUs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/trace/request_story.h"

namespace rnic::report {

struct DrawnEvent {
  const StoryLine* line;
  // Its FPDU, by when it was cut: of one direction and offset. Events of the whole request have none.
  std::optional<std::size_t> part;
  std::size_t left_out = 0;  // events directly before it
};

struct DrawnEvents {
  std::vector<DrawnEvent> events;
  std::size_t parts = 0, drawn_parts = 0;
};

// At most 12 FPDUs: those to which something happened, the last, and the first ones. Of other events at most 12 of a
// kind and place, the first and the last ones.
DrawnEvents drawn_events(const std::vector<StoryLine>& lines);

}  // namespace rnic::report
