// The RDMAP Terminate message: causes and header (RFC 5040 section 4.8, RFC 5041 section 7.2, RFC 5044 section 8,
// RFC 6581 section 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

enum class Layer : std::uint8_t { kRdma = 0, kDdp = 1, kLlp = 2 };

struct TerminateCause {
  Layer layer = Layer::kRdma;
  std::uint8_t etype = 0;
  std::uint8_t code = 0;
  friend constexpr bool operator==(const TerminateCause& a, const TerminateCause& b) {
    return a.layer == b.layer && a.etype == b.etype && a.code == b.code;
  }
  friend constexpr bool operator!=(const TerminateCause& a, const TerminateCause& b) { return !(a == b); }
};

// The first 16 bits of the Terminate header in the upper half of a word.
constexpr std::uint32_t terminate_word(TerminateCause c) {
  return static_cast<std::uint32_t>(c.layer) << 28 | std::uint32_t{c.etype} << 24 | std::uint32_t{c.code} << 16;
}

constexpr TerminateCause terminate_cause(std::uint32_t word) {
  return {static_cast<Layer>(word >> 28), static_cast<std::uint8_t>(word >> 24 & 0xf),
          static_cast<std::uint8_t>(word >> 16)};
}

namespace rdma {
inline constexpr std::uint8_t kLocalCatastrophicType = 0, kRemoteProtectionType = 1, kRemoteOperationType = 2;
inline constexpr TerminateCause kLocalCatastrophic{Layer::kRdma, kLocalCatastrophicType, 0x00};
inline constexpr TerminateCause kInvalidStag{Layer::kRdma, kRemoteProtectionType, 0x00};
inline constexpr TerminateCause kBaseOrBounds{Layer::kRdma, kRemoteProtectionType, 0x01};
inline constexpr TerminateCause kAccessRights{Layer::kRdma, kRemoteProtectionType, 0x02};
inline constexpr TerminateCause kStagNotAssociated{Layer::kRdma, kRemoteProtectionType, 0x03};
inline constexpr TerminateCause kToWrap{Layer::kRdma, kRemoteProtectionType, 0x04};
inline constexpr TerminateCause kForeignStagCannotBeInvalidated{Layer::kRdma, kRemoteProtectionType, 0x09};
inline constexpr TerminateCause kProtectionUnspecified{Layer::kRdma, kRemoteProtectionType, 0xff};
inline constexpr TerminateCause kInvalidVersion{Layer::kRdma, kRemoteOperationType, 0x05};
inline constexpr TerminateCause kUnexpectedOpcode{Layer::kRdma, kRemoteOperationType, 0x06};
inline constexpr TerminateCause kCatastrophicStream{Layer::kRdma, kRemoteOperationType, 0x07};
inline constexpr TerminateCause kCatastrophicGlobal{Layer::kRdma, kRemoteOperationType, 0x08};
inline constexpr TerminateCause kUnknownStagCannotBeInvalidated{Layer::kRdma, kRemoteOperationType, 0x09};
inline constexpr TerminateCause kOperationUnspecified{Layer::kRdma, kRemoteOperationType, 0xff};
}  // namespace rdma

namespace ddp {
inline constexpr std::uint8_t kLocalCatastrophicType = 0, kTaggedType = 1, kUntaggedType = 2;
inline constexpr TerminateCause kLocalCatastrophic{Layer::kDdp, kLocalCatastrophicType, 0x00};
inline constexpr TerminateCause kInvalidStag{Layer::kDdp, kTaggedType, 0x00};
inline constexpr TerminateCause kBaseOrBounds{Layer::kDdp, kTaggedType, 0x01};
inline constexpr TerminateCause kStagNotAssociated{Layer::kDdp, kTaggedType, 0x02};
inline constexpr TerminateCause kToWrap{Layer::kDdp, kTaggedType, 0x03};
inline constexpr TerminateCause kTaggedInvalidVersion{Layer::kDdp, kTaggedType, 0x04};
inline constexpr TerminateCause kInvalidQn{Layer::kDdp, kUntaggedType, 0x01};
inline constexpr TerminateCause kInvalidMsnNoBuffer{Layer::kDdp, kUntaggedType, 0x02};
inline constexpr TerminateCause kInvalidMsnRange{Layer::kDdp, kUntaggedType, 0x03};
inline constexpr TerminateCause kInvalidMo{Layer::kDdp, kUntaggedType, 0x04};
inline constexpr TerminateCause kMessageTooLong{Layer::kDdp, kUntaggedType, 0x05};
inline constexpr TerminateCause kUntaggedInvalidVersion{Layer::kDdp, kUntaggedType, 0x06};
}  // namespace ddp

namespace mpa {
inline constexpr std::uint8_t kMpaType = 0;
inline constexpr TerminateCause kConnectionLost{Layer::kLlp, kMpaType, 0x01};
inline constexpr TerminateCause kCrcMismatch{Layer::kLlp, kMpaType, 0x02};
inline constexpr TerminateCause kMarkerMismatch{Layer::kLlp, kMpaType, 0x03};
inline constexpr TerminateCause kInvalidStartupFrame{Layer::kLlp, kMpaType, 0x04};
inline constexpr TerminateCause kLocalCatastrophic{Layer::kLlp, kMpaType, 0x05};
inline constexpr TerminateCause kInsufficientIrd{Layer::kLlp, kMpaType, 0x06};
inline constexpr TerminateCause kNoMatchingRtr{Layer::kLlp, kMpaType, 0x07};
}  // namespace mpa

// Which headers a Terminate returns (RFC 5040 section 4.8, figure 10): the segment's length and
// DDP header unless the fault is local or the LLP's, and with a Remote Protection Error the header of a Read Request.
constexpr bool returns_ddp_header(TerminateCause c) {
  return c.layer == Layer::kDdp || (c.layer == Layer::kRdma && c.etype != rdma::kLocalCatastrophicType);
}
constexpr bool returns_read_request(TerminateCause c) {
  return c.layer == Layer::kRdma && c.etype == rdma::kRemoteProtectionType;
}

// "remote protection: invalid STag"; "unknown" for an undefined cause.
const char* to_string(TerminateCause cause);

// The header after the untagged DDP header on QN 2. M, D and R announce the failing segment's length, its DDP header
// and the Read Request header that it carried.
struct TerminateHeader {
  static constexpr std::size_t kControlBytes = 4;
  static constexpr std::size_t kMaxBytes = 52;

  TerminateCause cause;
  std::optional<std::uint16_t> segment_length;  // M: ULPDU_Length of the failing FPDU; on the wire only with D
  ByteSpan ddp_header;                          // D: 14 or 18 octets, else empty
  ByteSpan read_request;                        // R: 28 octets, else empty

  // nullopt if shorter than the control word. Tolerates a peer that sets a bit without sending the header (siw does so
  // with R): an incomplete header is empty. Zero-filled fields without their bit are ignored.
  static std::optional<TerminateHeader> parse(ByteSpan bytes);

  std::size_t bytes() const;
  // Returns the octets written, 0 if `out` is too small.
  std::size_t emit(MutableByteSpan out) const;
};

}  // namespace rnic::wire
