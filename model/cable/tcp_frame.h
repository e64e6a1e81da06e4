// A TCP segment in an IPv4 frame, which may be changed on its way. Frames are shared, so a changed one is a copy.
#pragma once

#include <optional>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic {

class TcpFrame {
 public:
  // None: no TCP, a fragment, or no frame that can be read. The view lasts as long as the frame.
  static std::optional<TcpFrame> parse(Frame& frame);

  const wire::Ipv4Header& ip() const { return ip_; }
  const wire::TcpHeader& header() const { return tcp_; }
  std::size_t payload_bytes() const { return payload_bytes_; }

  // Makes the frame a copy of its own in a block of the pool; to be called before what follows.
  void copy(BufferPool& pool);
  MutableByteSpan payload() { return {octets_ + payload_at_, payload_bytes_}; }
  void set_seq(std::uint32_t seq) { store_be32(octets_ + segment_at_ + 4, seq); }
  void set_flags(std::uint8_t flags) { octets_[segment_at_ + 13] = flags; }
  void shorten(std::size_t payload_bytes);  // not of a packet with IP options
  // Makes the TCP checksum right again.
  void seal();

 private:
  Frame* frame_ = nullptr;
  wire::Ipv4Header ip_;
  wire::TcpHeader tcp_;
  std::size_t ip_at_ = 0, segment_at_ = 0, payload_at_ = 0, payload_bytes_ = 0;  // in the frame
  std::uint8_t* octets_ = nullptr;
};

// The frame in a block of its own, to be written to.
std::uint8_t* own_copy(Frame& frame, BufferPool& pool);

}  // namespace rnic
