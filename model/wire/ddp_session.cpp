#include "model/wire/ddp_session.h"

#include "model/wire/sctp.h"

namespace rnic::wire {
namespace {

constexpr std::size_t kCodeOffset = 2;

bool known(std::uint16_t code, bool knows_enhanced) {
  const SessionCode last = knows_enhanced ? SessionCode::kEnhancedReject : SessionCode::kTerminate;
  return code >= static_cast<std::uint16_t>(SessionCode::kInitiate) && code <= static_cast<std::uint16_t>(last);
}

}  // namespace

std::uint32_t sctp_mulpdu(std::uint32_t ip_mtu, std::uint32_t ip_header_bytes, std::uint32_t reserve) {
  constexpr std::uint32_t kChunk = SctpChunk::kHeaderBytes + SctpData::kBytes + kDdpSsnBytes;
  const std::uint32_t around = ip_header_bytes + SctpHeader::kBytes + reserve;
  const std::uint32_t room = ip_mtu < around ? 0 : (ip_mtu - around) / kSctpAlign * kSctpAlign;
  return room < kSctpMinSegment + kChunk ? kSctpMinSegment : room - kChunk;
}

std::size_t SessionMessage::emit(MutableByteSpan out) const {
  const bool bare = code == SessionCode::kTerminate && pd_length() != 0;
  if (bare || pd_length() > kMaxPrivateData || enhanced.has_value() != is_enhanced(code) || out.size() < bytes())
    return 0;
  store_be16(out.data(), ddp_ssn);
  store_be16(out.data() + kCodeOffset, static_cast<std::uint16_t>(code));
  std::size_t at = kHeaderBytes;
  if (enhanced) at += enhanced->emit(out.subspan(at));
  for (const std::uint8_t octet : private_data) out[at++] = octet;
  return at;
}

SessionDecode decode_session_message(ByteSpan user_data, bool knows_enhanced) {
  const auto fail = [](SessionError error) { return SessionDecode{error, {}}; };
  if (user_data.size() < SessionMessage::kHeaderBytes) return fail(SessionError::kTruncated);
  const std::uint16_t code = load_be16(user_data.data() + kCodeOffset);
  if (!known(code, knows_enhanced)) return fail(SessionError::kBadCode);

  SessionMessage m;
  m.ddp_ssn = load_be16(user_data.data());
  m.code = static_cast<SessionCode>(code);
  m.private_data = user_data.subspan(SessionMessage::kHeaderBytes);
  if (m.code == SessionCode::kTerminate && !m.private_data.empty()) return fail(SessionError::kPdInTerminate);
  if (m.private_data.size() > SessionMessage::kMaxPrivateData) return fail(SessionError::kPdTooLong);
  if (is_enhanced(m.code)) {
    m.enhanced = MpaEnhanced::parse(m.private_data);
    if (m.enhanced) m.private_data = m.private_data.subspan(MpaEnhanced::kBytes);
    else if (m.code != SessionCode::kEnhancedReject) return fail(SessionError::kEnhancedTooShort);
  }
  return {SessionError::kNone, m};
}

const char* to_string(SessionCode code) {
  switch (code) {
    case SessionCode::kInitiate:
      return "initiate";
    case SessionCode::kAccept:
      return "accept";
    case SessionCode::kReject:
      return "reject";
    case SessionCode::kTerminate:
      return "terminate";
    case SessionCode::kEnhancedInitiate:
      return "enhanced_initiate";
    case SessionCode::kEnhancedAccept:
      return "enhanced_accept";
    case SessionCode::kEnhancedReject:
      return "enhanced_reject";
  }
  return "unknown";
}

const char* to_string(SessionError error) {
  switch (error) {
    case SessionError::kNone:
      return "none";
    case SessionError::kTruncated:
      return "truncated";
    case SessionError::kBadCode:
      return "bad_code";
    case SessionError::kPdInTerminate:
      return "pd_in_terminate";
    case SessionError::kPdTooLong:
      return "pd_too_long";
    case SessionError::kEnhancedTooShort:
      return "enhanced_too_short";
  }
  return "unknown";
}

}  // namespace rnic::wire
