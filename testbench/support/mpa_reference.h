// MPA framing word by word, straight from the text of RFC 5044: an oracle that shares no arithmetic with the model.
#pragma once

#include "model/common/prng.h"
#include "testbench/support/fpdu_beats.h"

namespace rnic::test {

// CRC32c bit by bit (RFC 5044 section 4.4): reflected polynomial, all ones at the start, inverted at the end.
inline std::uint32_t crc32c_by_bits(const Bytes& bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
  }
  return ~crc;
}

// One direction of a connection, as its sender puts it on the wire.
struct MpaReference {
  bool markers = false;
  bool crc = true;
  std::uint64_t pos = 0;  // octets since SeqStart

  // The stream's next FPDU.
  Bytes fpdu(const Bytes& ulpdu) {
    Bytes plain{static_cast<std::uint8_t>(ulpdu.size() >> 8), static_cast<std::uint8_t>(ulpdu.size())};
    plain.insert(plain.end(), ulpdu.begin(), ulpdu.end());
    while (plain.size() % 4 != 0) plain.push_back(0);

    Bytes wire;
    std::uint64_t length_at = pos;
    const auto marker = [&](bool leading) {
      if (!markers || pos % 512 != 0) return;
      const std::uint64_t pointer = leading ? 0 : pos - length_at;
      for (const std::uint64_t octet : {std::uint64_t{0}, std::uint64_t{0}, pointer >> 8, pointer}) {
        wire.push_back(static_cast<std::uint8_t>(octet));
      }
      pos += 4;
      if (leading) length_at = pos;
    };
    for (std::size_t i = 0; i < plain.size(); i += 4) {
      marker(i == 0);
      wire.insert(wire.end(), &plain[i], &plain[i] + 4);
      pos += 4;
    }
    marker(false);
    const std::uint32_t field = crc ? crc32c_by_bits(wire) : 0;
    for (int i = 0; i < 4; ++i) wire.push_back(static_cast<std::uint8_t>(field >> 8 * i));
    pos += 4;
    return wire;
  }
};

inline Bytes counting(std::size_t octets, std::uint8_t from = 0) {
  Bytes b(octets);
  for (std::size_t i = 0; i < octets; ++i) b[i] = static_cast<std::uint8_t>(from + i);
  return b;
}
inline Bytes random_bytes(Prng& rng, std::size_t octets) {
  Bytes b(octets);
  for (std::uint8_t& octet : b) octet = static_cast<std::uint8_t>(rng.next());
  return b;
}
inline Bytes joined(const std::vector<Bytes>& pieces) {
  Bytes all;
  for (const Bytes& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

}  // namespace rnic::test
