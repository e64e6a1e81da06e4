#include "model/wire/tcp.h"

#include "model/wire/fields.h"

namespace rnic::wire {
namespace {

// The fixed part in wire order; the octet before the flags holds the data offset in words.
template <class Header, class F>
void fields(Header& h, std::uint8_t& data_offset, F& f) {
  f(h.src_port, h.dst_port, h.seq, h.ack, data_offset, h.flags, h.window, h.checksum, h.urgent);
}

}  // namespace

std::size_t TcpHeader::emit(MutableByteSpan out) const {
  if (options.bytes() > TcpOptions::kMaxBytes || out.size() < bytes()) return 0;
  FieldWriter writer(out.data());
  std::uint8_t data_offset = static_cast<std::uint8_t>(bytes() / 4 << 4);
  fields(*this, data_offset, writer);
  options.emit(out.subspan(kBytes));
  return bytes();
}

std::optional<TcpView> TcpView::parse(ByteSpan segment) {
  if (segment.size() < TcpHeader::kBytes) return std::nullopt;
  TcpView view;
  FieldReader reader(segment.data());
  std::uint8_t data_offset = 0;
  fields(view.header, data_offset, reader);
  const std::size_t header_length = std::size_t{4} * (data_offset >> 4);
  if (header_length < TcpHeader::kBytes || header_length > segment.size()) return std::nullopt;
  view.header.options = TcpOptions::parse(segment.subspan(TcpHeader::kBytes, header_length - TcpHeader::kBytes));
  view.payload = segment.subspan(header_length);
  return view;
}

}  // namespace rnic::wire
