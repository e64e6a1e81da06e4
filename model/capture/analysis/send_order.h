// Tells a late original from a retransmission, by what a sender counts up with each segment: TSval of RFC 7323, or the
// identification of IPv4, if this sender's does.
#pragma once

#include <cstdint>
#include <optional>

#include "model/capture/analysis/segments.h"
#include "model/capture/segment.h"

namespace rnic::capture {

class SendOrderReader {
 public:
  // Of the next segment of the side, with or without data.
  SendOrder read(const Segment& segment);

 private:
  SendOrder by_timestamp(const Segment& segment);
  SendOrder by_id(const Segment& segment);

  std::optional<std::uint32_t> newest_timestamp_;
  std::optional<std::uint16_t> newest_id_;
  bool counts_ids_ = true;  // so far
};

}  // namespace rnic::capture
