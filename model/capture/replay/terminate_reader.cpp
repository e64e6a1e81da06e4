#include "model/capture/replay/terminate_reader.h"

#include <fmt/format.h>

namespace rnic::replay {

// The 13 bits after M, D and R are zero on the wire (RDMAP-6.8-02). So a sender that sets one of the lowest three bits
// of octet 2 has M, D and R mirrored.
std::optional<ReadTerminate> read_terminate(ByteSpan payload) {
  if (payload.size() < wire::TerminateHeader::kControlBytes) return std::nullopt;
  std::vector<std::uint8_t> octets(payload.begin(), payload.end());
  constexpr std::uint8_t kMirroredM = 0x01, kMirroredD = 0x02, kMirroredR = 0x04;
  ReadTerminate result;
  result.swapped = (octets[2] & (kMirroredM | kMirroredD | kMirroredR)) != 0;
  if (result.swapped) {
    const unsigned present = octets[2];
    octets[0] = static_cast<std::uint8_t>(octets[0] << 4 | octets[0] >> 4);
    octets[2] = static_cast<std::uint8_t>((present & kMirroredM) << 7 | (present & kMirroredD) << 5 |
                                          (present & kMirroredR) << 3);
  }
  const auto header = wire::TerminateHeader::parse(octets);
  if (!header) return std::nullopt;
  result.cause = header->cause;
  result.segment_length = header->segment_length;
  result.ddp_header.assign(header->ddp_header.begin(), header->ddp_header.end());
  result.read_request.assign(header->read_request.begin(), header->read_request.end());
  return result;
}

std::string cause_text(const wire::TerminateCause& cause) {
  return fmt::format("layer {}, type {}, code {:#04x}", static_cast<unsigned>(cause.layer), cause.etype, cause.code);
}

}  // namespace rnic::replay
