// DDP over SCTP: the user data of a DATA chunk, and the control messages of a DDP stream session (RFC 5043 section 5.2,
// RFC 6581 section 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/sctp.h"

namespace rnic::wire {

// The adaptation indication of an INIT and an INIT ACK (RFC 5043 section 5.1).
inline constexpr std::uint32_t kDdpAdaptation = 1;

// Payload protocol identifiers.
inline constexpr std::uint32_t kPpidDdpSegment = 16, kPpidDdpSession = 17;

// The DDP stream sequence number precedes a DDP segment or a control message.
inline constexpr std::size_t kDdpSsnBytes = 2;

// The longest DDP segment over a path of this IP MTU, and its lower limit for any path (RFC 5043 section 9). `reserve`
// is room for control chunks in the same packet.
inline constexpr std::uint32_t kSctpMinSegment = 516;
std::uint32_t sctp_mulpdu(std::uint32_t ip_mtu, std::uint32_t ip_header_bytes, std::uint32_t reserve);
// Octets of the DATA chunk that carries a DDP segment.
constexpr std::size_t sctp_segment_bytes(std::uint32_t segment) {
  return SctpData::chunk_bytes(kDdpSsnBytes + segment);
}

enum class SessionCode : std::uint16_t {
  kInitiate = 1,
  kAccept = 2,
  kReject = 3,
  kTerminate = 4,
  kEnhancedInitiate = 5,
  kEnhancedAccept = 6,
  kEnhancedReject = 7,
};
const char* to_string(SessionCode code);
constexpr bool is_enhanced(SessionCode code) { return code >= SessionCode::kEnhancedInitiate; }

// In the order of the checks.
enum class SessionError : std::uint8_t {
  kNone,
  kTruncated,
  kBadCode,
  kPdInTerminate,
  kPdTooLong,
  kEnhancedTooShort,
};
const char* to_string(SessionError error);

struct SessionMessage {
  static constexpr std::size_t kHeaderBytes = 4;       // DDP-SSN and code
  static constexpr std::size_t kMaxPrivateData = 512;  // the enhanced word included

  std::uint16_t ddp_ssn = 0;
  SessionCode code = SessionCode::kInitiate;
  std::optional<MpaEnhanced> enhanced;  // IRD, ORD and RTR kinds; a received Enhanced Reject may lack it
  ByteSpan private_data;                // the ULP's

  std::size_t pd_length() const { return private_data.size() + (enhanced ? MpaEnhanced::kBytes : 0); }
  std::size_t bytes() const { return kHeaderBytes + pd_length(); }

  // Writes the user data of its chunk. Returns the octets written; 0 if `out` is too small, a Terminate has private
  // data or another message more than 512 octets, or the enhanced word is missing or does not belong to this code.
  std::size_t emit(MutableByteSpan out) const;
};

struct SessionDecode {
  SessionError error = SessionError::kNone;
  SessionMessage message;  // valid iff there is no error; its private data is a view of the input
};

// `user_data` is from a chunk with PPID 17. A receiver without RFC 6581 knows no enhanced codes.
SessionDecode decode_session_message(ByteSpan user_data, bool knows_enhanced);

}  // namespace rnic::wire
