// The load of the transmit chain, for C++ and Verilated RTL alike. No SystemC.
#pragma once

#include <cstdint>

#include "model/common/prng.h"

namespace rnic::perf {

// ULPDUs of one flow with markers and CRC. Number k is offered from cycle 1 + k * period on.
struct ChainLoad {
  const char* name;
  std::uint16_t ulpdu_bytes;
  std::uint64_t period;  // cycles; 0: back to back
  std::uint64_t fpdus;
};
inline constexpr ChainLoad kChainLoads[] = {
    {"FPDUs of 1460 octets at full rate", 1454, 0, 100'000},
    {"FPDUs of 64 octets at full rate", 58, 0, 1'000'000},
    {"FPDUs of 1460 octets at 1 % load", 1454, 2300, 1'000},
};

// Covers all FPDUs that left: cycles of the first and the last beat, number of beats, CRC field.
class ChainDigest {
 public:
  void beat(std::uint64_t cycle, bool first, bool last, std::uint32_t last_word) {
    if (first) first_ = cycle, beats_ = 0;
    ++beats_;
    if (!last) return;
    value_ = mix64(mix64(value_ ^ first_) ^ mix64(cycle << 8 ^ beats_) ^ last_word);
    ++fpdus_;
  }
  std::uint64_t value() const { return value_; }
  std::uint64_t fpdus() const { return fpdus_; }

 private:
  std::uint64_t value_ = 0, first_ = 0, beats_ = 0, fpdus_ = 0;
};

// The result of a measurement.
struct ChainFigures {
  double cpu_s = 0;
  std::uint64_t digest = 0;
};

// An octet of every ULPDU.
constexpr std::uint8_t ulpdu_octet(unsigned i) { return static_cast<std::uint8_t>(mix64(i)); }

}  // namespace rnic::perf
