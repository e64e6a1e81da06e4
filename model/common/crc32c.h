// CRC32c (Castagnoli), the CRC of MPA, iSCSI and SCTP (RFC 5044 section 4.4).
#pragma once

#include <cstdint>

#include "model/common/bytes.h"

namespace rnic {

// The state is the bare register: it starts as all ones and is inverted only at the end. Pieces can be fed one at a
// time.
inline constexpr std::uint32_t kCrc32cInit = 0xffffffffu;
std::uint32_t crc32c_update(std::uint32_t state, ByteSpan bytes);
constexpr std::uint32_t crc32c_final(std::uint32_t state) { return ~state; }

// The complete CRC of one piece.
inline std::uint32_t crc32c(ByteSpan bytes) { return crc32c_final(crc32c_update(kCrc32cInit, bytes)); }

// On the wire the least significant octet goes first, unlike all other fields.
constexpr void store_crc32c(std::uint8_t* at, std::uint32_t crc) { store_le32(at, crc); }
constexpr std::uint32_t load_crc32c(const std::uint8_t* at) { return load_le32(at); }

}  // namespace rnic
