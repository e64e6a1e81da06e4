// What could not be decoded, and why. Nothing is dropped silently but what TCP/IP itself drops: a wrong checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rnic::capture {

struct Undecoded {
  std::uint64_t offset = 0;  // in the file: of the record of the frame, or where reading ended
  std::string reason;
};
using UndecodedList = std::vector<Undecoded>;

}  // namespace rnic::capture
