#include "model/cable/tcp_frame.h"

#include <cstring>

#include "model/wire/checksum.h"
#include "model/wire/tcp_frame_view.h"

namespace rnic {

std::uint8_t* own_copy(Frame& frame, BufferPool& pool) {
  RNIC_CHECK(frame.bytes <= pool.block_bytes());
  BufferRef copy = pool.take_like(frame.buf.get());
  std::memcpy(copy->bytes(), frame.data(), frame.bytes);
  frame.buf = std::move(copy);
  frame.offset = 0;
  return frame.buf->bytes();
}

std::optional<TcpFrame> TcpFrame::parse(Frame& frame) {
  const auto segment = wire::TcpFrameView::parse({frame.data(), frame.bytes});
  if (!segment) return std::nullopt;
  const auto& [ip, tcp] = *segment;
  const auto at = [&](ByteSpan part) { return static_cast<std::size_t>(part.data() - frame.data()); };
  TcpFrame view;
  view.frame_ = &frame;
  view.ip_ = ip.header;
  view.tcp_ = tcp.header;
  view.ip_at_ = at(ip.header_bytes);
  view.segment_at_ = at(ip.payload);
  view.payload_bytes_ = tcp.payload.size();
  view.payload_at_ = view.segment_at_ + ip.payload.size() - view.payload_bytes_;
  return view;
}

void TcpFrame::copy(BufferPool& pool) { octets_ = own_copy(*frame_, pool); }

void TcpFrame::shorten(std::size_t payload_bytes) {
  RNIC_CHECK(payload_bytes <= payload_bytes_);
  payload_bytes_ = payload_bytes;
  frame_->bytes = static_cast<std::uint32_t>(payload_at_ + payload_bytes);
  ip_.total_length = static_cast<std::uint16_t>(frame_->bytes - ip_at_);
  RNIC_CHECK(segment_at_ - ip_at_ == wire::Ipv4Header::kBytes);
  ip_.emit({octets_ + ip_at_, wire::Ipv4Header::kBytes});
}

void TcpFrame::seal() {
  const std::size_t bytes = payload_at_ + payload_bytes_ - segment_at_;
  wire::ChecksumAccumulator sum = wire::tcp_pseudo_header(ip_.src, ip_.dst, bytes);
  std::uint8_t* const checksum = octets_ + segment_at_ + wire::TcpHeader::kChecksumOffset;
  store_be16(checksum, 0);
  sum.add({octets_ + segment_at_, bytes});
  store_be16(checksum, sum.checksum());
}

}  // namespace rnic
