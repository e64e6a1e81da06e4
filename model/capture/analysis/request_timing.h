// Requests of one side and the other side's responses: MPA's startup frames, RDMA Reads and atomics.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "model/capture/analysis/figures.h"
#include "model/capture/analysis/stamp.h"
#include "model/capture/ddp_segment.h"
#include "model/common/bytes.h"
#include "model/wire/mpa_frame.h"

namespace rnic::capture {

// Finds the end of a startup frame in the octets of a stream.
class StartupFrame {
 public:
  explicit StartupFrame(wire::MpaFrameKind kind) : kind_(kind) {}
  // The next octets, in order. True if they have its last one.
  bool ends_in(ByteSpan octets);

 private:
  const wire::MpaFrameKind kind_;
  bool is_over_ = false;  // complete, or the stream is another protocol's
  std::vector<std::uint8_t> begin_;
};

// Responses come in the order of their requests (RFC 5040 section 5.5, RFC 7306 section 5).
class RequestTiming {
 public:
  explicit RequestTiming(Figures& figures) : figures_(figures) {}

  // A segment of the side that requests, and one of the side that responds.
  void request(const SegmentHeader& header, const Stamp& stamp);
  void response(const SegmentHeader& header, const Stamp& stamp);
  // Requests whose response is not in the capture.
  std::uint64_t open() const { return requests_.size(); }

 private:
  struct Request {
    bool is_atomic;
    Stamp stamp;
  };
  Figures& figures_;
  std::deque<Request> requests_;
  bool has_begun_ = false;  // the response to the first one
};

}  // namespace rnic::capture
