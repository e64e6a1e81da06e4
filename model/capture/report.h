// Reports the contents of a capture, as JSON and as text.
#pragma once

#include <ostream>

#include <nlohmann/json.hpp>

#include "model/capture/association_table.h"
#include "model/capture/connection_table.h"
#include "model/capture/segment_list.h"

namespace rnic::capture {

struct CaptureReport {
  // `list`, if there is one, collects the segments.
  explicit CaptureReport(SegmentList* list = nullptr);

  UndecodedList undecoded;  // in file order
  ConnectionTable table;
  AssociationTable associations;
  std::uint64_t packets = 0;  // of all interfaces
  std::uint64_t frames = 0;   // of those that are Ethernet
  bool is_cut = false;        // payload is missing
  std::uint64_t skipped = 0;  // packets of interfaces other than Ethernet
  std::uint64_t lost = 0;     // frames that the cable lost: no receiver saw them
  std::uint64_t dropped = 0;  // frames that a receiver drops for a wrong IP, TCP or SCTP checksum
};

nlohmann::ordered_json to_json(const CaptureReport& report);
void print(const CaptureReport& report, std::ostream& out);
// The last lines of print(): what was read, and what was not.
void print_totals(const CaptureReport& report, std::ostream& out);

}  // namespace rnic::capture
