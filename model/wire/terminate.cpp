#include "model/wire/terminate.h"

#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"

namespace rnic::wire {
namespace {

constexpr std::uint8_t kM = 0x80, kD = 0x40, kR = 0x20;  // in the third octet
constexpr std::size_t kFlagsOffset = 2, kSegmentLengthOffset = 4, kDdpHeaderOffset = 6;

void copy(ByteSpan from, std::uint8_t* to) {
  for (const std::uint8_t octet : from) *to++ = octet;
}

}  // namespace

std::optional<TerminateHeader> TerminateHeader::parse(ByteSpan bytes) {
  if (bytes.size() < kControlBytes) return std::nullopt;
  TerminateHeader header;
  header.cause = {static_cast<Layer>(bytes[0] >> 4), static_cast<std::uint8_t>(bytes[0] & 0x0f), bytes[1]};
  const std::uint8_t flags = bytes[kFlagsOffset];
  if (!(flags & kD) || bytes.size() < kDdpHeaderOffset) return header;
  if (flags & kM) header.segment_length = load_be16(bytes.data() + kSegmentLengthOffset);

  const ByteSpan rest = bytes.subspan(kDdpHeaderOffset);
  if (rest.empty() || rest.size() < ddp_header_bytes(rest[0])) return header;
  header.ddp_header = rest.subspan(0, ddp_header_bytes(rest[0]));
  const ByteSpan after = rest.subspan(header.ddp_header.size());
  if ((flags & kR) && after.size() >= ReadRequest::kBytes) header.read_request = after.subspan(0, ReadRequest::kBytes);
  return header;
}

std::size_t TerminateHeader::bytes() const {
  if (ddp_header.empty()) return kControlBytes;
  return kDdpHeaderOffset + ddp_header.size() + read_request.size();
}

std::size_t TerminateHeader::emit(MutableByteSpan out) const {
  if (out.size() < bytes()) return 0;
  const bool d = !ddp_header.empty(), r = d && !read_request.empty();
  out[0] = static_cast<std::uint8_t>(static_cast<unsigned>(cause.layer) << 4 | (cause.etype & 0x0f));
  out[1] = cause.code;
  out[kFlagsOffset] = static_cast<std::uint8_t>((d && segment_length ? kM : 0) | (d ? kD : 0) | (r ? kR : 0));
  out[kFlagsOffset + 1] = 0;
  if (!d) return kControlBytes;
  store_be16(out.data() + kSegmentLengthOffset, segment_length.value_or(0));
  copy(ddp_header, out.data() + kDdpHeaderOffset);
  copy(read_request, out.data() + kDdpHeaderOffset + ddp_header.size());
  return bytes();
}

}  // namespace rnic::wire
