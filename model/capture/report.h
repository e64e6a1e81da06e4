// Reports the contents of a capture, as JSON and as text.
#pragma once

#include <ostream>

#include <nlohmann/json.hpp>

#include "model/capture/association_table.h"
#include "model/capture/connection_table.h"

namespace rnic::capture {

struct CaptureReport {
  UndecodedList undecoded;  // in file order
  ConnectionTable table{undecoded};
  AssociationTable associations{undecoded};
  std::uint64_t frames = 0;
  std::uint64_t skipped = 0;  // packets of interfaces other than Ethernet
  std::uint64_t dropped = 0;  // frames that a receiver drops for a wrong IP, TCP or SCTP checksum
};

nlohmann::ordered_json to_json(const CaptureReport& report);
void print(const CaptureReport& report, std::ostream& out);

}  // namespace rnic::capture
