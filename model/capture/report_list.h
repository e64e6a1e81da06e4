// Shows the list of a capture's segments, as a table or as JSON lines.
#pragma once

#include <ostream>

#include "model/capture/segment_list.h"
#include "model/capture/undecoded.h"

namespace rnic::capture {

// Both put what could not be decoded between the segments, by frame; `undecoded` is in the order of the file.
void print_list(const SegmentList& list, const UndecodedList& undecoded, std::ostream& out);
// One object a line.
void print_json_list(const SegmentList& list, const UndecodedList& undecoded, std::ostream& out);

}  // namespace rnic::capture
