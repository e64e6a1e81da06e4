// The incoming FPDU, in runs of beats: its octets are already in one buffer, so only their place is kept.
#pragma once

#include <cstdint>

#include "model/common/check.h"
#include "model/rnic/llp/tcp/retransmission_queue.h"
#include "model/rnic/llp/tcp/segment.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

class FpduAssembly {
 public:
  void add(const FpduBeat& first, unsigned beats) {
    if (first.first) {
      start_ = first.data;
      bytes_ = 0;
    }
    RNIC_CHECK(first.data == start_ + bytes_);
    bytes_ += 4u * first.words * beats;
  }
  std::uint32_t bytes() const { return bytes_; }

  // With the last beat: the whole FPDU as a segment, which gets the reference that travels with the beats.
  tcp::QueuedSegment finish(const FpduBeat& last) {
    add(last, 1);
    tcp::QueuedSegment segment;
    segment.buf = BufferRef::adopt(last.buf);
    segment.payload_at = static_cast<std::uint32_t>(start_ - last.buf->bytes());
    RNIC_CHECK(segment.payload_at >= tcp::kHeaderBytes);
    segment.payload_bytes = static_cast<std::uint16_t>(bytes_);
    segment.flags = wire::TcpHeader::kPsh | wire::TcpHeader::kAck;
    segment.completes_wqe = last.completes_wqe;
    return segment;
  }

 private:
  std::uint8_t* start_ = nullptr;
  std::uint32_t bytes_ = 0;
};

}  // namespace rnic
