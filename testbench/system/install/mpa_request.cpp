// Wire formats alone, without SystemC: the octets of an MPA request of revision 1 that asks for markers and CRC, and
// the CRC32c that all catalogues of CRCs give as its check value.
#include <array>
#include <cstdio>

#include "model/common/crc32c.h"
#include "model/wire/mpa_frame.h"

int main() {
  rnic::wire::MpaFrame request;
  request.markers = true;
  request.crc = true;
  std::array<std::uint8_t, rnic::wire::kMpaHeaderBytes> octets{};
  const std::size_t length = request.emit(octets);
  for (std::size_t i = 0; i < length; ++i) std::printf("%02x", octets[i]);
  constexpr std::array<std::uint8_t, 9> kDigits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  std::printf(" %08x", rnic::crc32c(kDigits));
}
