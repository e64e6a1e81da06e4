// An entry of the page table in its home: a page's bus address, with a check in the bits that are 0 in an address.
#pragma once

#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/crc32c.h"

namespace rnic {

struct HomeEntry {
  static constexpr std::uint32_t kBytes = 8;
  static constexpr std::uint64_t kCheckBits = 0xfff;

  // The CRC32c of the address, little-endian, folded to 12 bits: it detects up to three wrong bits of the 64. It is
  // never 0 for address 0, so an entry that was never written, 0, is no address.
  static std::uint64_t check_of(std::uint64_t address) {
    std::uint8_t octets[kBytes];
    store_le64(octets, address);
    const std::uint32_t crc = crc32c({octets, sizeof octets});
    return (crc ^ crc >> 12 ^ crc >> 24) & kCheckBits;
  }
  static std::uint64_t pack(std::uint64_t address) { return address | check_of(address); }
  // Whether it is what pack() made.
  static bool is_whole(std::uint64_t entry) { return (entry & kCheckBits) == check_of(entry & ~kCheckBits); }
  static std::uint64_t address(std::uint64_t entry) { return entry & ~kCheckBits; }
};

}  // namespace rnic
