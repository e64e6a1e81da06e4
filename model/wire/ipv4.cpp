#include "model/wire/ipv4.h"

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

std::optional<Ipv4View> Ipv4View::parse(ByteSpan packet) {
  const std::optional<Ipv4Header> header = parse_fields<Ipv4Header>(packet);
  if (!header || header->version_ihl >> 4 != 4) return std::nullopt;
  const std::size_t header_length = std::size_t{4} * (header->version_ihl & 0x0f);
  if (header_length < Ipv4Header::kBytes || header->total_length < header_length) return std::nullopt;
  if (header->total_length > packet.size()) return std::nullopt;
  return Ipv4View{*header, packet.subspan(0, header_length),
                  packet.subspan(header_length, header->total_length - header_length)};
}

bool Ipv4View::checksum_ok() const { return internet_checksum(header_bytes) == 0; }

}  // namespace rnic::wire
