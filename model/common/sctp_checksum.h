// The checksum of an SCTP packet (RFC 9260 section 6.8 and appendix A).
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/crc32c.h"

namespace rnic {

inline constexpr std::size_t kSctpChecksumOffset = 8, kSctpChecksumBytes = 4;

// CRC32c over the packet from its source port through its last pad, with the checksum's octets taken as 0. It is sent
// as the CRC of an FPDU is (store_crc32c). `packet` has at least a common header.
inline std::uint32_t sctp_checksum(ByteSpan packet) {
  constexpr std::uint8_t kZeros[kSctpChecksumBytes] = {};
  std::uint32_t state = crc32c_update(kCrc32cInit, packet.subspan(0, kSctpChecksumOffset));
  state = crc32c_update(state, kZeros);
  return crc32c_final(crc32c_update(state, packet.subspan(kSctpChecksumOffset + kSctpChecksumBytes)));
}

}  // namespace rnic
