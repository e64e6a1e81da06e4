#include "model/wire/ipv4.h"

#include <algorithm>

#include "model/wire/checksum.h"

namespace rnic::wire {
namespace {

constexpr std::size_t kChecksumOffset = 10;

}  // namespace

std::size_t Ipv4Header::emit(MutableByteSpan out) const {
  Ipv4Header header = *this;
  header.checksum = 0;
  if (emit_fields(header, out) == 0) return 0;
  store_be16(out.data() + kChecksumOffset, internet_checksum({out.data(), kBytes}));
  return kBytes;
}

namespace {

std::optional<Ipv4View> view_of(ByteSpan packet, const std::optional<Ipv4Header>& header, std::size_t total_length) {
  if (!header || header->version_ihl >> 4 != 4) return std::nullopt;
  const std::size_t header_length = std::size_t{4} * (header->version_ihl & 0x0f);
  if (header_length < Ipv4Header::kBytes || total_length < header_length) return std::nullopt;
  if (total_length > packet.size()) return std::nullopt;
  return Ipv4View{*header, packet.subspan(0, header_length),
                  packet.subspan(header_length, total_length - header_length)};
}

}  // namespace

std::optional<Ipv4View> Ipv4View::parse(ByteSpan packet) {
  const std::optional<Ipv4Header> header = parse_fields<Ipv4Header>(packet);
  return view_of(packet, header, header ? header->total_length : 0);
}

std::optional<Ipv4View> Ipv4View::parse_offloaded(ByteSpan packet) {
  const std::optional<Ipv4Header> header = parse_fields<Ipv4Header>(packet);
  return view_of(packet, header, header && header->total_length != 0 ? header->total_length : packet.size());
}

std::optional<Ipv4View> Ipv4View::parse_cut(ByteSpan packet) {
  const std::optional<Ipv4Header> header = parse_fields<Ipv4Header>(packet);
  const std::size_t length = header && header->total_length != 0 ? header->total_length : packet.size();
  return view_of(packet, header, std::min(length, packet.size()));
}

bool Ipv4View::checksum_ok() const { return internet_checksum(header_bytes) == 0; }

}  // namespace rnic::wire
