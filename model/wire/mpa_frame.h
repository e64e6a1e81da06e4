// The MPA startup frame: request and reply of RFC 5044 section 7.1.1, with the enhanced word of RFC 6581 section 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic::wire {

inline constexpr std::size_t kMpaKeyBytes = 16;
inline constexpr std::size_t kMpaHeaderBytes = 20;
inline constexpr std::size_t kMpaMaxPrivateData = 512;  // PD_Length, the enhanced word included
inline constexpr std::uint8_t kMpaRevRdmac = 0;         // RDMAC peer
inline constexpr std::uint8_t kMpaRev1 = 1;             // RFC 5044
inline constexpr std::uint8_t kMpaRev2 = 2;             // RFC 6581

enum class MpaFrameKind : std::uint8_t { kRequest, kReply };

// IRD, ORD and RTR kinds. Decoded as sent: with peer_to_peer clear, the RTR flags have no meaning.
struct MpaEnhanced {
  static constexpr std::size_t kBytes = 4;
  static constexpr std::uint16_t kNotNegotiated = 0x3fff;  // of IRD or ORD

  bool peer_to_peer = false;  // A
  bool rtr_send = false;      // B: RTR by zero-length Send
  bool rtr_write = false;     // C: by zero-length RDMA Write
  bool rtr_read = false;      // D: by zero-length RDMA Read
  std::uint16_t ird = kNotNegotiated;
  std::uint16_t ord = kNotNegotiated;

  static std::optional<MpaEnhanced> parse(ByteSpan bytes);
  std::size_t emit(MutableByteSpan out) const;
};

// The reasons to close at once (MPA error 4), in the order of the checks; both lengths of a short frame are kTruncated.
enum class MpaFrameError : std::uint8_t {
  kNone,
  kTruncated,
  kBadKey,
  kBadRev,
  kPdTooLong,
  kExtraOctets,
  kEnhancedTooShort,
};
const char* to_string(MpaFrameError error);

struct MpaFrame {
  MpaFrameKind kind = MpaFrameKind::kRequest;
  bool markers = false;   // M: the sender wants to receive markers
  bool crc = false;       // C
  bool rejected = false;  // R, in a reply; to be ignored in a request
  bool s = false;         // S as received; emit() sets it iff there is an enhanced word
  std::uint8_t rev = kMpaRev1;
  std::optional<MpaEnhanced> enhanced;  // present iff S and Rev >= 2
  ByteSpan private_data;                // the ULP's, without the enhanced word

  // PD_Length as sent.
  std::size_t pd_length() const { return private_data.size() + (enhanced ? MpaEnhanced::kBytes : 0); }
  std::size_t bytes() const { return kMpaHeaderBytes + pd_length(); }

  // Returns the octets written; 0 if `out` is too small or PD_Length would be above 512.
  std::size_t emit(MutableByteSpan out) const;
};

// Octets of the frame that starts the stream, once its header is complete. Meaningful only if the header decodes.
std::optional<std::size_t> mpa_frame_bytes(ByteSpan stream);

struct MpaFrameDecode {
  MpaFrameError error = MpaFrameError::kNone;
  MpaFrame frame;  // valid iff there is no error; its private_data is a view of the input
};

// `bytes` is the complete frame and nothing else. `expected` is the kind that the receiver expects, `max_rev` the
// highest revision it supports. Reserved bits are not checked.
MpaFrameDecode decode_mpa_frame(ByteSpan bytes, MpaFrameKind expected, std::uint8_t max_rev);

// True while `stream` may still become a frame with this key: this distinguishes streaming-mode data from MPA.
bool starts_like_mpa_key(ByteSpan stream, MpaFrameKind kind);

}  // namespace rnic::wire
