// Wire formats alone, without SystemC: the octets of an MPA request of revision 1 that asks for markers and CRC.
#include <array>
#include <cstdio>

#include "model/wire/mpa_frame.h"

int main() {
  rnic::wire::MpaFrame request;
  request.markers = true;
  request.crc = true;
  std::array<std::uint8_t, rnic::wire::kMpaHeaderBytes> octets{};
  const std::size_t length = request.emit(octets);
  for (std::size_t i = 0; i < length; ++i) std::printf("%02x", octets[i]);
}
