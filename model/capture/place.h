// Where in a capture a frame is, and when it was captured.
#pragma once

#include <cstdint>

namespace rnic::capture {

struct Place {
  std::uint64_t offset = 0;   // in the uncompressed file: of the record or block
  std::uint64_t frame = 0;    // its number among all packets of the file, from 1 on, as Wireshark shows it
  std::uint64_t time_ns = 0;  // as the capture has it; a run's own capture begins with the simulation
};

}  // namespace rnic::capture
