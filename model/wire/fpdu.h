// MPA framing arithmetic: FPDU, pad, markers, MULPDU (RFC 5044 sections 4.1 to 4.5). All lengths are in octets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"

namespace rnic::wire {

inline constexpr std::size_t kUlpduLengthBytes = 2;
inline constexpr std::size_t kFpduCrcBytes = 4;
inline constexpr std::size_t kMarkerBytes = 4;
inline constexpr std::size_t kMarkerInterval = 512;
inline constexpr std::size_t kMinMulpdu = 128;
inline constexpr std::size_t kMaxMulpdu = 64768;

// Zero octets after the ULPDU that make length field, ULPDU and pad a multiple of 4.
constexpr std::size_t fpdu_pad(std::size_t ulpdu_length) { return (2 - ulpdu_length % 4 + 4) % 4; }

// The FPDU without markers: length field, ULPDU, pad, CRC.
constexpr std::size_t fpdu_bytes(std::size_t ulpdu_length) {
  return kUlpduLengthBytes + ulpdu_length + fpdu_pad(ulpdu_length) + kFpduCrcBytes;
}

// A stream position is the octet count since SeqStart, modulo 2^32: the first octet after the startup frame is 0.
// 2^32 is a multiple of the marker interval, so markers survive the wrap.
using StreamPosition = std::uint32_t;
constexpr StreamPosition stream_position(std::uint32_t seq, std::uint32_t seq_start) { return seq - seq_start; }
constexpr bool is_marker_position(StreamPosition position) { return position % kMarkerInterval == 0; }

// Octets until the next marker: 0 when one is due here.
constexpr std::size_t octets_to_marker(StreamPosition position) {
  return (kMarkerInterval - position % kMarkerInterval) % kMarkerInterval;
}

// Markers inside an FPDU of `plain_bytes` octets (without markers) that starts at `position`, including its leading
// marker. A marker due right after the CRC belongs to the next FPDU.
constexpr std::size_t fpdu_markers(StreamPosition position, std::size_t plain_bytes) {
  const std::size_t before = octets_to_marker(position);
  return plain_bytes > before ? 1 + (plain_bytes - before - 1) / (kMarkerInterval - kMarkerBytes) : 0;
}

// The FPDU on a stream with markers; `position` is that of its first octet, which belongs to a marker if one is due.
constexpr std::size_t marked_fpdu_bytes(StreamPosition position, std::size_t ulpdu_length) {
  const std::size_t plain = fpdu_bytes(ulpdu_length);
  return plain + kMarkerBytes * fpdu_markers(position, plain);
}

// Position of ULPDU_Length in an FPDU whose first octet is at `position`, with markers.
constexpr StreamPosition ulpdu_length_position(StreamPosition position) {
  return is_marker_position(position) ? position + static_cast<StreamPosition>(kMarkerBytes) : position;
}

// FPDUPTR of the marker at `marker` in the FPDU whose ULPDU_Length is at `length`: 0 for a marker just before it.
constexpr std::uint16_t fpduptr(StreamPosition marker, StreamPosition length) {
  return marker + kMarkerBytes == length ? 0 : static_cast<std::uint16_t>(marker - length);
}

// A marker: 16 zero bits and FPDUPTR, whose two low bits a receiver takes as 0.
constexpr void store_marker(std::uint8_t* at, std::uint16_t pointer) { store_be32(at, pointer); }
constexpr std::uint16_t load_marker(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(load_be16(at + 2) & ~3u);
}

// The largest ULPDU whose FPDU fits a segment of `emss` octets, clamped to the floor and ceiling of RFC 5044
// section 4.5. Below the floor FPDUs span segments.
constexpr std::size_t mulpdu(std::size_t emss, bool markers) {
  const std::size_t marker_bytes = markers ? kMarkerBytes * ((emss + kMarkerInterval - 1) / kMarkerInterval) : 0;
  const std::size_t overhead = kUlpduLengthBytes + kFpduCrcBytes + marker_bytes + emss % 4;
  if (emss < overhead + kMinMulpdu) return kMinMulpdu;
  return emss - overhead > kMaxMulpdu ? kMaxMulpdu : emss - overhead;
}

}  // namespace rnic::wire
