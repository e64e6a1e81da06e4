// An entry of the page table in its home: a page's bus address, with a check in the bits that are 0 in an address.
#pragma once

#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/crc32c.h"

namespace rnic {

struct HomeEntry {
  static constexpr std::uint32_t kBytes = 8;
  static constexpr std::uint64_t kCheckBits = 0xfff;

  // The CRC32c of address and number, little-endian, folded to 12 bits: it detects up to three wrong bits of the 64,
  // and all but one of 4,096 entries that belong elsewhere. Of address 0 it is not 0: no entry that was written is.
  static std::uint64_t check_of(std::uint64_t address, std::uint32_t number) {
    std::uint8_t octets[kBytes + sizeof number];
    store_le64(octets, address);
    store_le32(octets + kBytes, number);
    const std::uint32_t crc = crc32c({octets, sizeof octets});
    const std::uint64_t check = (crc ^ crc >> 12 ^ crc >> 24) & kCheckBits;
    return address == 0 && check == 0 ? 1 : check;
  }
  static std::uint64_t pack(std::uint64_t address, std::uint32_t number) { return address | check_of(address, number); }
  // Whether it is what pack() made. 0 was never written.
  static bool is_whole(std::uint64_t entry, std::uint32_t number) {
    return entry != 0 && (entry & kCheckBits) == check_of(entry & ~kCheckBits, number);
  }
  static std::uint64_t address(std::uint64_t entry) { return entry & ~kCheckBits; }
};

}  // namespace rnic
