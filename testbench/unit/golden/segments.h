// DDP segments octet by octet from the figures of RFC 5040 and RFC 5041, for tests of librnic_golden.
#pragma once

#include <cstdint>

#include "testbench/support/fpdu_beats.h"

namespace rnic::test {

inline void put(Bytes& to, std::uint64_t value, int octets) {
  for (int i = octets; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
// RFC 5041 figures 3 and 5, RFC 5040 figure 2; version 1 of both.
inline Bytes tagged(unsigned opcode, bool last, std::uint32_t stag, std::uint64_t to, const Bytes& payload) {
  Bytes ulpdu;
  put(ulpdu, 0x81 | (last ? 0x40 : 0), 1);
  put(ulpdu, 0x40 | opcode, 1);
  put(ulpdu, stag, 4);
  put(ulpdu, to, 8);
  ulpdu.insert(ulpdu.end(), payload.begin(), payload.end());
  return ulpdu;
}
struct Place {
  std::uint32_t qn = 0, msn = 1, mo = 0;
  bool last = true;
  std::uint32_t invalidate = 0;
};
inline Bytes untagged(unsigned opcode, const Place& at, const Bytes& payload) {
  Bytes ulpdu;
  put(ulpdu, 0x01 | (at.last ? 0x40 : 0), 1);
  put(ulpdu, 0x40 | opcode, 1);
  put(ulpdu, at.invalidate, 4);
  put(ulpdu, at.qn, 4);
  put(ulpdu, at.msn, 4);
  put(ulpdu, at.mo, 4);
  ulpdu.insert(ulpdu.end(), payload.begin(), payload.end());
  return ulpdu;
}
inline constexpr unsigned kWrite = 0, kReadRequest = 1, kReadResponse = 2, kSend = 3, kSendInvalidate = 4;

}  // namespace rnic::test
