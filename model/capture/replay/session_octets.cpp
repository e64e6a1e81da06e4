#include "model/capture/replay/session_octets.h"

#include "model/common/check.h"
#include "model/common/crc32c.h"
#include "model/wire/fpdu.h"

namespace rnic::replay {

using wire::MpaFrame;
using wire::MpaFrameKind;
using wire::SessionCode;

void append_startup(const wire::SessionMessage& message, std::vector<std::uint8_t>& to) {
  MpaFrame frame;
  const bool initiates = message.code == SessionCode::kInitiate || message.code == SessionCode::kEnhancedInitiate;
  frame.kind = initiates ? MpaFrameKind::kRequest : MpaFrameKind::kReply;
  frame.crc = true;
  frame.rejected = is_reject(message.code);
  frame.rev = is_enhanced(message.code) ? wire::kMpaRev2 : wire::kMpaRev1;
  frame.enhanced = message.enhanced;
  frame.private_data = message.private_data;
  const std::size_t at = to.size();
  to.resize(at + frame.bytes());
  RNIC_CHECK(frame.emit(MutableByteSpan(to).subspan(at)) == frame.bytes());
}

void append_fpdu(ByteSpan segment, std::vector<std::uint8_t>& to) {
  RNIC_CHECK(segment.size() <= wire::kMaxMulpdu);
  const std::size_t at = to.size(), bytes = wire::fpdu_bytes(segment.size());
  to.resize(at + wire::kUlpduLengthBytes);
  store_be16(&to[at], static_cast<std::uint16_t>(segment.size()));
  to.insert(to.end(), segment.begin(), segment.end());
  to.resize(at + bytes);
  const std::size_t crc_at = at + bytes - wire::kFpduCrcBytes;
  store_crc32c(&to[crc_at], crc32c({&to[at], crc_at - at}));
}

std::optional<wire::SessionMessage> session_message(ByteSpan startup, MpaFrameKind expected) {
  const wire::MpaFrameDecode decoded = wire::decode_mpa_frame(startup, expected, wire::kMpaRev2);
  if (decoded.error != wire::MpaFrameError::kNone) return std::nullopt;
  const MpaFrame& frame = decoded.frame;
  const bool enhanced = frame.rev == wire::kMpaRev2;
  wire::SessionMessage message;
  if (frame.kind == MpaFrameKind::kRequest) {
    message.code = enhanced ? SessionCode::kEnhancedInitiate : SessionCode::kInitiate;
  } else if (frame.rejected) {
    message.code = enhanced ? SessionCode::kEnhancedReject : SessionCode::kReject;
  } else {
    message.code = enhanced ? SessionCode::kEnhancedAccept : SessionCode::kAccept;
  }
  message.enhanced = frame.enhanced;
  message.private_data = frame.private_data;
  return message;
}

}  // namespace rnic::replay
