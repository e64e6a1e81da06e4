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

struct CauseText {
  TerminateCause cause;
  const char* text;
};
constexpr CauseText kTexts[] = {
    {rdma::kInvalidStag, "remote protection: invalid STag"},
    {rdma::kBaseOrBounds, "remote protection: base or bounds violation"},
    {rdma::kAccessRights, "remote protection: access rights violation"},
    {rdma::kStagNotAssociated, "remote protection: STag not associated with the stream"},
    {rdma::kToWrap, "remote protection: TO wrap"},
    {rdma::kForeignStagCannotBeInvalidated, "remote protection: STag cannot be invalidated"},
    {rdma::kProtectionUnspecified, "remote protection: unspecified"},
    {rdma::kInvalidVersion, "remote operation: invalid RDMAP version"},
    {rdma::kUnexpectedOpcode, "remote operation: unexpected opcode"},
    {rdma::kCatastrophicStream, "remote operation: catastrophic error of the stream"},
    {rdma::kCatastrophicGlobal, "remote operation: catastrophic error, global"},
    {rdma::kUnknownStagCannotBeInvalidated, "remote operation: STag cannot be invalidated"},
    {rdma::kOperationUnspecified, "remote operation: unspecified"},
    {ddp::kInvalidStag, "tagged buffer: invalid STag"},
    {ddp::kBaseOrBounds, "tagged buffer: base or bounds violation"},
    {ddp::kStagNotAssociated, "tagged buffer: STag not associated with the stream"},
    {ddp::kToWrap, "tagged buffer: TO wrap"},
    {ddp::kTaggedInvalidVersion, "tagged buffer: invalid DDP version"},
    {ddp::kInvalidQn, "untagged buffer: invalid QN"},
    {ddp::kInvalidMsnNoBuffer, "untagged buffer: invalid MSN, no buffer"},
    {ddp::kInvalidMsnRange, "untagged buffer: invalid MSN, out of range"},
    {ddp::kInvalidMo, "untagged buffer: invalid MO"},
    {ddp::kMessageTooLong, "untagged buffer: message too long for the buffer"},
    {ddp::kUntaggedInvalidVersion, "untagged buffer: invalid DDP version"},
    {mpa::kConnectionLost, "MPA: TCP connection closed, terminated or lost"},
    {mpa::kCrcMismatch, "MPA: CRC mismatch"},
    {mpa::kMarkerMismatch, "MPA: marker and ULPDU length disagree"},
    {mpa::kInvalidStartupFrame, "MPA: invalid request or reply frame"},
    {mpa::kLocalCatastrophic, "MPA: local catastrophic error"},
    {mpa::kInsufficientIrd, "MPA: insufficient IRD resources"},
    {mpa::kNoMatchingRtr, "MPA: no matching RTR option"},
};

}  // namespace

const char* to_string(TerminateCause cause) {
  for (const CauseText& row : kTexts) {
    if (row.cause == cause) return row.text;
  }
  if (cause.etype == rdma::kLocalCatastrophicType && cause.layer == Layer::kRdma)
    return "RDMAP: local catastrophic error";
  if (cause.etype == ddp::kLocalCatastrophicType && cause.layer == Layer::kDdp) return "DDP: local catastrophic error";
  return "unknown";
}

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
