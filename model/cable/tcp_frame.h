// A TCP segment in an IPv4 frame, which may be changed in flight. Frames are shared, so a changed one is a copy.
#pragma once

#include <optional>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"

namespace rnic {

class TcpFrame {
 public:
  // nullopt: not TCP, a fragment, or a malformed frame. The view lasts as long as the frame.
  static std::optional<TcpFrame> parse(Frame& frame);

  const wire::Ipv4Header& ip() const { return ip_; }
  const wire::TcpHeader& header() const { return tcp_; }
  std::size_t payload_bytes() const { return payload_bytes_; }

  // Copies the frame into a block of the pool; call before the functions below.
  void copy(BufferPool& pool);
  MutableByteSpan payload() { return {octets_ + payload_at_, payload_bytes_}; }
  void set_seq(std::uint32_t seq) { store_be32(octets_ + segment_at_ + 4, seq); }
  void set_flags(std::uint8_t flags) { octets_[segment_at_ + 13] = flags; }
  void shorten(std::size_t payload_bytes);  // not for a packet with IP options
  // Recomputes the TCP checksum.
  void seal();

 private:
  Frame* frame_ = nullptr;
  wire::Ipv4Header ip_;
  wire::TcpHeader tcp_;
  std::size_t ip_at_ = 0, segment_at_ = 0, payload_at_ = 0, payload_bytes_ = 0;  // in the frame
  std::uint8_t* octets_ = nullptr;
};

// Copies the frame into its own block; returns the block for writing.
std::uint8_t* own_copy(Frame& frame, BufferPool& pool);

}  // namespace rnic
