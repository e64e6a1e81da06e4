// An SCTP packet in an IPv4 frame, which may be changed in flight. Frames are shared, so a changed one is a copy.
#pragma once

#include <optional>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/wire/sctp.h"

namespace rnic {

class SctpFrame {
 public:
  // nullopt: not SCTP, a fragment, or a malformed frame. The view lasts as long as the frame.
  static std::optional<SctpFrame> parse(Frame& frame);

  const wire::SctpHeader& header() const { return header_; }

  // Copies the frame into a block of the pool; call before the functions below.
  void copy(BufferPool& pool);
  // From the common header on.
  MutableByteSpan packet() { return {octets_ + packet_at_, packet_bytes_}; }
  // Recomputes the checksum.
  void seal();

 private:
  Frame* frame_ = nullptr;
  wire::SctpHeader header_;
  std::size_t packet_at_ = 0, packet_bytes_ = 0;  // in the frame
  std::uint8_t* octets_ = nullptr;
};

}  // namespace rnic
