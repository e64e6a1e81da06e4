// The segments of one side that are not acknowledged yet, and what their acknowledgement tells: its delay, and how many
// segments it is for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/capture/analysis/figures.h"
#include "model/capture/analysis/segments.h"

namespace rnic::capture {

struct SentSegment {
  std::int64_t end = 0;
  Stamp stamp;  // of the last time
  std::optional<std::uint16_t> ipv4_id;
  unsigned times = 1;
  bool in_order = true;  // nothing was missing before it
};

class SentSegments {
 public:
  explicit SentSegments(Figures& figures) : figures_(figures) {}

  // The one that begins there, or nullptr.
  const SentSegment* at(std::int64_t begin) const;
  void data(const DataSegment& data, bool in_order);
  // `is_complete`: all of what it acknowledges is in the capture. Returns the first octet of a segment that was sent
  // again and acknowledged sooner than the way to the receiver and back allows: the receiver had it.
  std::optional<std::int64_t> ack(const AckSegment& ack, bool is_complete);

 private:
  Figures& figures_;
  std::map<std::int64_t, SentSegment> segments_;  // by their first octets
  std::optional<std::int64_t> least_delay_ns_;
};

}  // namespace rnic::capture
