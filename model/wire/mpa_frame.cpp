#include "model/wire/mpa_frame.h"

namespace rnic::wire {
namespace {

constexpr std::uint8_t kRequestKey[] = {'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm', 'e'};
constexpr std::uint8_t kReplyKey[] = {'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F', 'r', 'a', 'm', 'e'};
static_assert(sizeof kRequestKey == kMpaKeyBytes && sizeof kReplyKey == kMpaKeyBytes);

constexpr std::size_t kFlagsOffset = 16, kRevOffset = 17, kPdLengthOffset = 18;
constexpr std::uint8_t kFlagM = 0x80, kFlagC = 0x40, kFlagR = 0x20, kFlagS = 0x10;
constexpr std::uint16_t kHighFlag = 0x8000, kLowFlag = 0x4000, kDepthMask = 0x3fff;  // of both enhanced halves

const std::uint8_t* key(MpaFrameKind kind) { return kind == MpaFrameKind::kRequest ? kRequestKey : kReplyKey; }

constexpr std::uint16_t pack(bool high, bool low, std::uint16_t depth) {
  return static_cast<std::uint16_t>((high ? kHighFlag : 0) | (low ? kLowFlag : 0) | (depth & kDepthMask));
}

}  // namespace

std::optional<MpaEnhanced> MpaEnhanced::parse(ByteSpan bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  const std::uint16_t first = load_be16(bytes.data()), second = load_be16(bytes.data() + 2);
  MpaEnhanced word;
  word.peer_to_peer = first & kHighFlag;
  word.rtr_send = first & kLowFlag;
  word.ird = first & kDepthMask;
  word.rtr_write = second & kHighFlag;
  word.rtr_read = second & kLowFlag;
  word.ord = second & kDepthMask;
  return word;
}

std::size_t MpaEnhanced::emit(MutableByteSpan out) const {
  if (out.size() < kBytes) return 0;
  store_be16(out.data(), pack(peer_to_peer, rtr_send, ird));
  store_be16(out.data() + 2, pack(rtr_write, rtr_read, ord));
  return kBytes;
}

std::size_t MpaFrame::emit(MutableByteSpan out) const {
  if (pd_length() > kMpaMaxPrivateData || out.size() < bytes()) return 0;
  for (std::size_t i = 0; i < kMpaKeyBytes; ++i) out[i] = key(kind)[i];
  out[kFlagsOffset] = static_cast<std::uint8_t>((markers ? kFlagM : 0) | (crc ? kFlagC : 0) | (rejected ? kFlagR : 0) |
                                                (enhanced ? kFlagS : 0));
  out[kRevOffset] = rev;
  store_be16(out.data() + kPdLengthOffset, static_cast<std::uint16_t>(pd_length()));
  std::size_t at = kMpaHeaderBytes;
  if (enhanced) at += enhanced->emit(out.subspan(at));
  for (const std::uint8_t octet : private_data) out[at++] = octet;
  return at;
}

std::optional<std::size_t> mpa_frame_bytes(ByteSpan stream) {
  if (stream.size() < kMpaHeaderBytes) return std::nullopt;
  return kMpaHeaderBytes + load_be16(stream.data() + kPdLengthOffset);
}

bool starts_like_mpa_key(ByteSpan stream, MpaFrameKind kind) {
  for (std::size_t i = 0; i < kMpaKeyBytes && i < stream.size(); ++i) {
    if (stream[i] != key(kind)[i]) return false;
  }
  return true;
}

MpaFrameDecode decode_mpa_frame(ByteSpan bytes, MpaFrameKind expected, std::uint8_t max_rev) {
  const auto fail = [](MpaFrameError error) { return MpaFrameDecode{error, {}}; };
  if (bytes.size() < kMpaHeaderBytes) return fail(MpaFrameError::kTruncated);
  if (!starts_like_mpa_key(bytes, expected)) return fail(MpaFrameError::kBadKey);

  MpaFrame frame;
  frame.kind = expected;
  frame.markers = bytes[kFlagsOffset] & kFlagM;
  frame.crc = bytes[kFlagsOffset] & kFlagC;
  frame.rejected = bytes[kFlagsOffset] & kFlagR;
  frame.s = bytes[kFlagsOffset] & kFlagS;
  frame.rev = bytes[kRevOffset];
  if (frame.rev > max_rev) return fail(MpaFrameError::kBadRev);

  const std::size_t pd_length = load_be16(bytes.data() + kPdLengthOffset);
  if (pd_length > kMpaMaxPrivateData) return fail(MpaFrameError::kPdTooLong);
  frame.private_data = bytes.subspan(kMpaHeaderBytes);
  if (frame.private_data.size() < pd_length) return fail(MpaFrameError::kTruncated);
  if (frame.private_data.size() > pd_length) return fail(MpaFrameError::kExtraOctets);

  if (frame.s && frame.rev >= kMpaRev2) {
    frame.enhanced = MpaEnhanced::parse(frame.private_data);
    if (!frame.enhanced) return fail(MpaFrameError::kEnhancedTooShort);
    frame.private_data = frame.private_data.subspan(MpaEnhanced::kBytes);
  }
  return {MpaFrameError::kNone, frame};
}

const char* to_string(MpaFrameError error) {
  switch (error) {
    case MpaFrameError::kNone:
      return "none";
    case MpaFrameError::kTruncated:
      return "truncated";
    case MpaFrameError::kBadKey:
      return "bad_key";
    case MpaFrameError::kBadRev:
      return "bad_rev";
    case MpaFrameError::kPdTooLong:
      return "pd_too_long";
    case MpaFrameError::kExtraOctets:
      return "extra_octets";
    case MpaFrameError::kEnhancedTooShort:
      return "enhanced_too_short";
  }
  return "unknown";
}

}  // namespace rnic::wire
